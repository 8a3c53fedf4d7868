// Alerts from what happens in a deployment to a real receiver.
import { expect, test } from "bun:test";
import { pollUntil } from "../support/time/poll-until.ts";
import { dataOf, jsonBody, lookUp, Person } from "./reputation/people.ts";
import { startAlertReceiver } from "./support/alert-receiver.ts";
import { onOneBackend } from "./support/backends.ts";
import { type SyncApp, startApp } from "./support/sync-app.ts";
import { startRunApp } from "./sync-runs/support/run-apps.ts";

const BUILT_IN = { SYNC_TABLES: "" };

/** A person with a key: its id and its text. */
async function withKey(app: SyncApp, name: string) {
  const person = await Person.signUp(app, name);
  const made = dataOf(await person.post("/v1/me/api-keys", { name: "shop" }));
  return { person, id: String(made["id"]), key: String(made["key"]) };
}

onOneBackend("alerts", (backend) => {
  test("D-10.12 keys are told, signed; what is answered 500, or with a redirect, is sent again", async () => {
    const receiver = await startAlertReceiver();
    const elsewhere = await startAlertReceiver();
    const app = await startApp({ backend, env: { ...BUILT_IN, ...receiver.env } });
    const { person, id } = await withKey(app, "ana");
    receiver.answer = 307;
    receiver.headers = { Location: elsewhere.url };
    const successor = dataOf(await person.post(`/v1/me/api-keys/${id}/rotate`, {}));
    await receiver.waitFor(1);
    receiver.answer = 500;
    await receiver.waitFor(2);
    receiver.answer = 204;
    const rotated = await receiver.waitFor(3);
    const revoke = `/v1/me/api-keys/${successor["id"]}`;
    expect((await person.send(revoke, { method: "DELETE" })).status).toBe(200);
    const all = await receiver.waitFor(4);
    const expected = {
      id: expect.stringMatching(/^[\w-]{8,64}$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/),
      account: "ana",
      name: "shop",
    };
    expect(rotated[0]?.json).toEqual({ ...expected, type: "key.rotated", key_id: id });
    expect(all[3]?.json).toEqual({ ...expected, type: "key.revoked", key_id: successor["id"] });
    expect(new Set(rotated.map(({ body }) => body)).size).toBe(1);
    expect(new Set(rotated.map(({ headers }) => headers["repsync-signature"])).size).not.toBe(1);
    for (const { headers, json, isGenuine } of all) {
      expect([isGenuine, headers["repsync-id"]]).toEqual([true, json["id"]]);
    }
    expect(elsewhere.received).toEqual([]);
  });

  test("D-10.12 two instances tell a quota once each, and a person who is erased is not told of", async () => {
    const receiver = await startAlertReceiver();
    const env = { ...BUILT_IN, ...receiver.env, STORAGE_URL: await backend.makeUrl() };
    const run = await startRunApp({ env });
    const apps = [run, await startApp({ env })];
    const plan = { plan: "enterprise", calls_per_month: 5, rate_limit_per_minute: 600 };
    for (const name of ["ana", "bea"]) {
      const { key, person } = await withKey(run, name);
      const changed = await run.admin.send(
        `/v1/admin/accounts/${name}/plan`,
        jsonBody(plan, "PUT"),
      );
      expect(changed.status).toBe(200);
      receiver.answer = name === "ana" ? 200 : 500;
      await Promise.all(
        apps.flatMap((app) => [1, 2, 3].map(() => lookUp(app, key, { username: "x" }))),
      );
      if (name === "ana") await receiver.waitFor(2);
      else await receiver.waitFor(1, ({ json }) => json["account"] === "bea");
      if (name === "bea")
        expect((await person.send("/v1/me", { method: "DELETE" })).status).toBe(200);
    }
    const quotas = receiver.received.filter(({ json }) => json["account"] === "ana");
    const month = new Date().toISOString().slice(0, 7);
    expect(
      quotas.map(({ json: { type, limit, used, month } }) => [type, limit, used, month]).sort(),
    ).toEqual([
      ["quota.100", 5, 5, month],
      ["quota.80", 5, 4, month],
    ]);
    receiver.answer = 200;
    const { person, id } = await withKey(run, "cid");
    await person.send(`/v1/me/api-keys/${id}`, { method: "DELETE" });
    await receiver.waitFor(1, ({ json }) => json["account"] === "cid");
    const metrics = (await run.send("/metrics")).text;
    expect(metrics).toContain("\nrepsync_alerts_pending 0\n");
    expect(metrics + (await apps[1]!.send("/metrics")).text).toMatch(
      /repsync_alerts_total\{type="quota.80",outcome="delivered"\} 1\n/,
    );
  });

  test("D-10.12 drift, and a run that failed, as the list of runs shows it", async () => {
    const receiver = await startAlertReceiver();
    const remote = await startApp();
    const env = { SYNC_REMOTE_URL: remote.url, ...receiver.env };
    const app = await startRunApp({ backend, env });
    await app.push("notes", { records: [{ name: "a" }] });
    await remote.push("notes", { records: [{ name: "b" }] });
    await app.trigger({ direction: "push", table: "notes" });
    const [drift] = await receiver.waitFor(1);
    expect(drift?.json).toMatchObject({
      ...{ type: "drift.found", table: "notes", count_here: 1, count_there: 2 },
    });
    const refused = await startRunApp({ backend, env: { ...env, SYNC_REMOTE_KEY: "another" } });
    expect((await refused.trigger({ direction: "push", table: "notes" })).status).toBe(500);
    const [, run] = await receiver.waitFor(2);
    const { id: _, at: __, type, ...shown } = run?.json ?? {};
    expect([type, shown]).toEqual(["run.failed", (await refused.items("/runs"))[0] ?? {}]);
  });

  test("D-10.12 private addresses are refused, and without WEBHOOK_URL nothing is kept", async () => {
    const receiver = await startAlertReceiver();
    const refusing = { ...receiver.env, WEBHOOK_ALLOW_PRIVATE: "false" };
    const pending: string[] = [];
    for (const webhook of [refusing, {}]) {
      const app = await startApp({ backend, env: { ...BUILT_IN, ...webhook } });
      const { person, id } = await withKey(app, "ana");
      await person.send(`/v1/me/api-keys/${id}`, { method: "DELETE" });
      let text = "";
      await pollUntil("failure", async () => {
        text = (await app.send("/metrics")).text;
        return webhook !== refusing || text.includes('outcome="failed"');
      });
      pending.push(/^repsync_alerts_pending .*$/m.exec(text)?.[0] ?? "");
    }
    expect(pending).toEqual(["repsync_alerts_pending 1", "repsync_alerts_pending 0"]);
    expect(receiver.received).toEqual([]);
  });
});

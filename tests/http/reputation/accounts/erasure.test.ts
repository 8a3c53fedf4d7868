// What an erasure leaves, here and with the deployments that this one syncs with. D-8.2.
import { expect, test } from "bun:test";
import { SystemTimer } from "../../../../src/adapters/system/system.ts";
import {
  BUILT_IN_TABLES,
  type TableEntry,
} from "../../../../src/domain/sync/table/registry-schema.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { fileOf, resultOf } from "../../rows/support/import-replies.ts";
import { POSTGRESQL } from "../../support/backends.ts";
import { type SyncApp, startApp } from "../../support/sync-app.ts";
import { type RunApp, startPair } from "../../sync-runs/support/run-apps.ts";
import { ADMIN_ENV, dataOf, jsonBody, lookUp, PASSWORD, Person, releaseName } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";

const later = (ms = 1_000) => new Date(Date.now() + ms).toISOString();

async function signUp(app: SyncApp, username: string) {
  const body = { username, email: `${username}@example.com`, password: PASSWORD };
  const reply = await app.send("/v1/signup", jsonBody(body));
  return [reply.status, reply.json["code"]];
}

async function erase(person: Person) {
  const reply = await person.send("/v1/me", { method: "DELETE" });
  expect([reply.status, dataOf(reply)]).toEqual([200, { status: "erased" }]);
}

async function release(admin: Person, username: string) {
  const reply = await admin.send(`/v1/admin/accounts/${username}/release`, { method: "POST" });
  return [reply.status, reply.status === 200 ? dataOf(reply) : reply.json["code"]];
}

onReputationBackends("erased names", (backend) => {
  test("D-8.2 an erased name is taken until an administrator releases it", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const ana = await Person.signUp(app, "ana");
    expect(await release(ana, "ana")).toEqual([403, "forbidden"]);
    expect(await release(root, "ana")).toEqual([404, "not_found"]);
    await erase(ana);
    expect(await signUp(app, "ana")).toEqual([409, "username_taken"]);
    expect(await release(root, "ana")).toEqual([200, { username: "ana", status: "released" }]);
    expect(await release(root, "ana")).toEqual([404, "not_found"]);
    expect(await signUp(app, "ana")).toEqual([201, undefined]);
  });

  test("D-5.5, D-8.2 what was recorded of somebody who hid is nameless, and not the next one's", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const key = await (await Person.signUp(app, "shop")).issueKey();
    const ana = await Person.signUp(app, "ana");
    await root.send("/v1/admin/accounts/ana/plan", jsonBody({ plan: "enterprise" }, "PUT"));
    await ana.send("/v1/me/profile", jsonBody({ public: false }, "PATCH"));
    expect((await lookUp(app, key, { username: "ana" })).status).toBe(404);
    const named = async () =>
      dataOf(await root.send("/v1/admin/audit?account=ana"))["items"] as readonly unknown[];
    expect((await named()).length).toBe(2);
    await erase(ana);
    expect(await named()).toEqual([]);
    await release(root, "ana");
    const next = await Person.signUp(app, "ana");
    expect(dataOf(await next.send("/v1/me/accesses"))["items"]).toEqual([]);
  });

  test("D-8.2 a push of rows for an erased name fails them, and a guarded one leaves them out", async () => {
    const app = await startReputation(backend);
    await erase(await Person.signUp(app, "ana"));
    const records = ["ana", "bea"].map((username) => ({
      ...{ username, platform: "github", handle: "h", verified: true, updated_at: later() },
    }));
    const pushed = (await app.push("platform_accounts", { records })).json;
    expect(pushed).toMatchObject({ received: 2, upserted: 1, error_count: 1 });
    expect(pushed["errors"]).toEqual(["username=ana, platform=github: was erased here"]);
    const guard = { "X-Sync-Conflict": "newer" };
    const guarded = (await app.push("platform_accounts", { records }, guard)).json;
    expect(guarded).toMatchObject({ received: 2, upserted: 1, kept: 0, changed: 0, erased: 1 });
    expect(guarded["errors"]).toBeUndefined();
    const rows = await app.records("platform_accounts");
    expect(rows.map(({ username }) => username)).toEqual(["bea"]);
  });

  test("D-8.2 whoever has the name next is not answered with the rows of the one before", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const key = await (await Person.signUp(app, "shop")).issueKey();
    await erase(await Person.signUp(app, "ana"));
    await release(root, "ana");
    const old = { username: "ana", platform: "github", handle: "old", verified: true };
    const before = { ...old, updated_at: "2026-01-01T00:00:00Z" };
    await app.push("platform_accounts", { records: [before] });
    const ana = await Person.signUp(app, "ana");
    await ana.consent();
    const platforms = async () =>
      (await lookUp(app, key, { username: "ana", rest: "/platforms" })).json["data"];
    expect(await platforms()).toEqual([]);
    const now = { ...old, platform: "gitlab", handle: "new", updated_at: later() };
    await app.push("platform_accounts", { records: [before, now] });
    expect(await platforms()).toMatchObject([{ platform: "gitlab", handle: "new" }]);
  });

  test("D-8.2 the month's calls go on counting for whoever has the name next", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const used = async (person: Person) => {
      const { month } = dataOf(await person.send("/v1/me/usage"));
      return (month as Record<string, unknown>)["used"];
    };
    const shop = await Person.signUp(app, "shop");
    const key = await shop.issueKey();
    for (let i = 0; i < 3; i++) await lookUp(app, key, { username: "nobody" });
    expect(await used(shop)).toBe(3);
    await erase(shop);
    await release(root, "shop");
    const next = await Person.signUp(app, "shop");
    expect(await used(next)).toBe(3);
    await lookUp(app, await next.issueKey(), { username: "nobody" });
    expect(await used(next)).toBe(4);
  });

  test("D-8.4, D-8.2 an erasure made while the clock was ahead keeps no rows and deletes of the next person out", async () => {
    const clock = new FakeClock("2027-03-01T12:00:00Z");
    const profiles = { ...BUILT_IN_TABLES["profiles"], deletes: true } as TableEntry;
    const app = await startApp({
      backend,
      env: ADMIN_ENV,
      tables: { profiles },
      time: { clock, timer: new SystemTimer() },
    });
    await erase(await Person.signUp(app, "ana"));
    clock.set("2026-03-01T12:00:00Z");
    await releaseName(app, "ana");
    const push = async (body: object) => (await app.push("profiles", body)).json;
    const row = { username: "ana", updated_at: "2026-03-01T12:00:00Z" };
    expect(await push({ records: [row] })).toMatchObject({ upserted: 1 });
    const deleted = [{ key: { username: "ana" }, deleted_at: "2026-03-01T12:00:01Z" }];
    expect(await push({ records: [], deleted })).toMatchObject({ deleted: 1 });
    expect(await app.records("profiles")).toEqual([]);
  });
});

onReputationBackends(
  "erased people and runs",
  (backend) => {
    const rows = async (app: RunApp, table = "profiles") =>
      (await app.rows(table)).map(({ username }) => username);

    /** Ana has an account and rows here, and rows there; she is erased here. */
    async function setScene() {
      const { local, remote } = await startPair({ backend });
      const ana = await Person.signUp(local, "ana");
      await local.trigger({ table: "profiles" });
      expect(await rows(remote)).toEqual(["ana"]);
      await erase(ana);
      return { local, remote };
    }

    test("D-8.2 the next runs do not bring an erased person back, and say so", async () => {
      const { local, remote } = await setScene();
      for (const more of [{}, { full: true }]) {
        const { json } = await local.trigger({ table: "profiles", ...more });
        expect(json).toMatchObject({ status: "success", error_count: 0, total_pulled: 0 });
      }
      const newer = { username: "ana", bio: "newer", updated_at: later() };
      await remote.push("profiles", { records: [newer, { ...newer, username: "bea" }] });
      const { json } = await local.trigger({ table: "profiles", direction: "pull" });
      expect(json).toMatchObject({ status: "success", total_pulled: 1, changed: 1, erased: 1 });
      expect(json["tables"]).toMatchObject({ profiles: { pulled: 1, erased: 1 } });
      expect(await rows(local)).toEqual(["bea"]);
      expect((await local.items("/rejected")).length).toBe(0);
    });

    test("D-8.2 what comparisons and imports told of an erased person is dropped", async () => {
      const { local } = await startPair({ backend });
      const ana = await Person.signUp(local, "ana");
      await ana.send("/v1/me/profile", jsonBody({ bio: "her bio" }, "PATCH"));
      const row = { username: "ana", public: "hers too", updated_at: later() };
      await local.ask("/compare", jsonBody({ table: "profiles" }));
      const [compared] = await local.items("/runs");
      const imported = await local.ask("/import/profiles?dry_run=true", jsonBody([row]));
      const runs = [compared?.["run_id"], imported.headers.get("X-Run-Id")];
      const told = async () => {
        const replies = await Promise.all(runs.map((id) => local.ask(`/runs/${id}/events`)));
        return replies.map(({ text }) => text).join();
      };
      expect(await told()).toMatch(/her bio[\s\S]*hers too/);
      await erase(ana);
      expect(await told()).not.toMatch(/\bana\b|hers?\b/);
      expect(await told()).toContain("finished");
    });

    test.each(["", "?dry_run=true"])(
      "D-8.2 what is kept of an import names nobody who was erased before%s",
      async (query) => {
        const { local } = await startPair({ backend });
        await erase(await Person.signUp(local, "ana"));
        const sound = { platform: "github", updated_at: later() };
        const rows = ["ana", "bea"].flatMap((username) => [
          { username, ...sound },
          { username, ...sound, platform: "", handle: `${username} wrote this` },
        ]);
        const imported = await local.ask(`/import/platform_accounts${query}`, jsonBody(rows));
        expect(resultOf(imported)?.["failures"]).toMatchObject([
          { line: 1, key: null, value: null, message: "was erased here" },
          { line: 1, key: null, value: null, message: "was erased here" },
          { line: 1, key: "username=bea, platform=" },
        ]);
        const { text } = await local.ask(`/runs/${imported.headers.get("X-Run-Id")}/events`);
        expect(text).toMatch(/\bbea\b/);
        expect(text).not.toMatch(/\bana\b/);
      },
    );

    test("D-8.2 what an import tells that goes on through an erasure is not kept", async () => {
      const { local } = await startPair({ backend });
      const ana = await Person.signUp(local, "ana");
      const first = Promise.withResolvers<void>();
      const rest = Promise.withResolvers<void>();
      const lineOf = (username: string, platform: string) => `${username},${platform}\n`;
      const lines = Array.from({ length: 1_000 }, (_, i) => lineOf(`person${i}`, "github"));
      const file = new ReadableStream({
        async pull(controller) {
          const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
          send(`username,platform\n${lineOf("ana", "")}${lines.join("")}`);
          first.resolve();
          await rest.promise;
          send(lineOf("person", "gitlab"));
          controller.close();
        },
      });
      const importing = local.ask("/import/platform_accounts", fileOf(file));
      await first.promise;
      while ((await rows(local, "platform_accounts")).length === 0);
      await erase(ana);
      rest.resolve();
      const imported = await importing;
      expect(resultOf(imported)).toMatchObject({ type: "done", written: 1_001, failed: 1 });
      const { text } = await local.ask(`/runs/${imported.headers.get("X-Run-Id")}/events`);
      expect(text).toContain("finished");
      expect(text).not.toMatch(/\bana\b/);
    });

    test("D-8.2 a run counts what the other end leaves out", async () => {
      const { local, remote } = await setScene();
      await erase(await Person.signUp(remote, "cem"));
      const records = ["cem", "dan"].map((username) => ({ username, updated_at: later() }));
      await local.push("profiles", { records });
      const { json } = await local.trigger({ table: "profiles", direction: "push" });
      expect(json).toMatchObject({ status: "success", total_pushed: 1, erased: 1, changed: 1 });
      expect((await rows(remote)).toSorted()).toEqual(["ana", "dan"]);
    });

    test("D-8.2 a record of an erased person that cannot be a row is not kept as rejected", async () => {
      const { local, remote } = await setScene();
      const tables: Record<string, TableEntry> = {
        profiles: {
          upsert_key: ["username"],
          timestamp_column: "updated_at",
          columns: {
            username: { type: "text" },
            bio: { type: "text", max_length: 3 },
            updated_at: { type: "datetime" },
          },
        },
      };
      const strict = await startPair({ backend, tables, env: { SYNC_REMOTE_URL: remote.url } });
      await erase(await Person.signUp(strict.local, "ana"));
      const long = { bio: "far too long", updated_at: later() };
      const records = ["ana", "bea"].map((username) => ({ username, ...long }));
      await remote.push("profiles", { records });
      const { json } = await strict.local.trigger({ table: "profiles", direction: "pull" });
      expect(json).toMatchObject({ error_count: 1, erased: 1 });
      const rejected = await strict.local.items("/rejected");
      expect(rejected.map(({ key }) => key)).toEqual([{ username: "bea" }]);
      expect(await rows(local)).toEqual([]);
    });

    test.each(["pull", "push"])(
      "D-8.2 after a release the next %s brings the newer rows, and not the older ones",
      async (direction) => {
        const { local, remote } = await setScene();
        const [from, to] = direction === "pull" ? [remote, local] : [local, remote];
        if (to === remote) await erase(await Person.signUp(remote, "cem"));
        const username = to === remote ? "cem" : "ana";
        const run = async () =>
          (await local.trigger({ table: "platform_accounts", direction })).json;
        const records = [
          { username, platform: "old", updated_at: later(-30_000) },
          { username, platform: "new", updated_at: later() },
          { username: "bea", platform: "new", updated_at: later() },
        ];
        expect(
          (await from.push("platform_accounts", { records })).json["error_count"],
        ).toBeUndefined();
        expect(await run()).toMatchObject({ status: "success", erased: 2, changed: 1 });
        expect(await rows(to, "platform_accounts")).toEqual(["bea"]);
        await releaseName(to, username);
        // What is exact does not read the older row again. D-12.3.
        const erased = backend === POSTGRESQL ? 0 : 1;
        expect(await run()).toMatchObject({ status: "success", erased, changed: 1 });
        const taken = await to.rows("platform_accounts");
        expect(taken.map((row) => `${row["username"]} ${row["platform"]}`).toSorted()).toEqual(
          ["bea new", `${username} new`].toSorted(),
        );
      },
    );

    test("D-8.2 a comparison leaves an erased person out, whatever it repairs", async () => {
      const { local, remote } = await setScene();
      for (const repair of [null, "pull", "newest"]) {
        const { json } = await local.ask("/compare", jsonBody({ table: "profiles", repair }));
        expect(json).toMatchObject({ matched: 0, different: 0, missing_here: 0, erased: 1 });
        expect(json["examples"]).toMatchObject({ missing_here: [] });
        expect(await rows(local)).toEqual([]);
      }
      expect((await local.items("/runs"))[0]).toMatchObject({ kind: "compare", erased: 1 });
      expect(await rows(remote)).toEqual(["ana"]);
    });
  },
  { isEverywhere: true },
);

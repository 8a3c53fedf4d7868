// Runs that are started without waiting for their end.
import { expect, test } from "bun:test";
import { pollUntil } from "../../support/time/poll-until.ts";
import { ADMIN_ENV, jsonBody, Person } from "../reputation/people.ts";
import { onOneBackend } from "../support/backends.ts";
import { startApp } from "../support/sync-app.ts";
import { startHeldRemote } from "./support/held-remote.ts";
import { notes, SYNC, startRunApp } from "./support/run-apps.ts";

onOneBackend("trigger() without waiting", (backend) => {
  test("D-9.5.1 trigger() with wait: false answers 202 with the run, which every instance can read and which goes on", async () => {
    const remote = await startRunApp();
    await remote.push("notes", { records: notes(3) });
    const held = startHeldRemote(remote.url, "/pull/");
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: held.url };
    const first = await startRunApp({ env });
    const second = await startRunApp({ env });
    const body = { table: "notes", direction: "pull", full: true, wait: false };
    const reply = await first.trigger(body);
    expect(reply.status).toBe(202);
    expect(reply.json).toMatchObject({
      ...{ kind: "sync", trigger: "api", status: "running", direction: "pull", full_sync: true },
      ...{ total_pulled: 0, finished_at: null },
    });
    const id = String(reply.json["run_id"]);
    expect((await second.ask(`/runs/${id}`)).json).toMatchObject({ run_id: id, status: "running" });
    held.release();
    await pollUntil("the end", async () => {
      return (await second.ask(`/runs/${id}`)).json["status"] === "success";
    });
    expect(await first.rows("notes")).toEqual(await remote.rows("notes"));
  });
});

test("D-9.5.1 trigger() with wait: true answers with the result", async () => {
  const remote = await startRunApp();
  const local = await startRunApp({ env: { SYNC_REMOTE_URL: remote.url } });
  const reply = await local.trigger({ table: "notes", wait: true });
  expect([reply.status, reply.json["status"]]).toEqual([200, "success"]);
});

test("D-9.5.1 trigger() with wait: false refuses as it does without", async () => {
  const remote = { SYNC_REMOTE_URL: "http://127.0.0.1:9" };
  const app = await startRunApp({ env: remote });
  const refused: [object, string][] = [
    [{ wait: "false" }, "wait must be true or false"],
    [{ wait: null }, "wait must be true or false"],
    [{ wait: false, direction: "sideways" }, "direction must be one of push, pull, both"],
    [{ wait: false, table: "no_such_table" }, 'Unknown table "no_such_table"'],
  ];
  for (const [body, error] of refused) {
    const reply = await app.trigger(body);
    expect([body, reply.status]).toEqual([body, 400]);
    expect(String(reply.json["error"])).toStartWith(error);
  }
  const forced = await app.trigger({ wait: false, force: true });
  expect([forced.status, Object.keys(forced.json)]).toEqual([400, ["error"]]);
  for (const env of [{}, { ...remote, SYNC_ENABLED: "false" }]) {
    const unconfigured = await startRunApp({ env });
    const reply = await unconfigured.trigger({ wait: false });
    expect([reply.status, reply.json["type"]]).toEqual([400, "config_error"]);
    expect(await unconfigured.items("/runs")).toEqual([]);
  }
  const open = await startApp({ env: { ...ADMIN_ENV, ...remote } });
  const body = jsonBody({ wait: false });
  expect((await open.send(`${SYNC}/trigger`, body)).status).toBe(401);
  const ana = await Person.signUp(open, "ana");
  expect((await ana.send(`${SYNC}/trigger`, body)).status).toBe(403);
  await app.stopRuns();
  const stopping = await app.trigger({ wait: false });
  expect([stopping.status, stopping.json["type"]]).toEqual([500, "sync_error"]);
});

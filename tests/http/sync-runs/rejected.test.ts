// Rejected records: the record itself, and trying one again.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { ColumnEntry, TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { ADMIN_ENV, Person } from "../reputation/people.ts";
import { onOneBackend, SQLITE_FILE } from "../support/backends.ts";
import { fastTime } from "../support/fast-time.ts";
import { startApp } from "../support/sync-app.ts";
import { startHeldRemote } from "./support/held-remote.ts";
import { type RunApp, SYNC, startRunApp } from "./support/run-apps.ts";

const words = (column: ColumnEntry): Record<string, TableEntry> => ({
  words: { upsert_key: ["w"], columns: { w: { type: "text" }, v: column } },
});
const timed = (column: ColumnEntry): Record<string, TableEntry> => ({
  words: {
    ...{ timestamp_column: "at", upsert_key: ["w"] },
    columns: { w: { type: "text" }, v: column, at: { type: "datetime" } },
  },
});
const LAX = words({ type: "text" });
const SHORT = words({ type: "text", max_length: 3 });
const TOO_LONG = { w: "<a>", v: "too long" };

const retry = (app: RunApp, id: unknown) => app.ask(`/rejected/${id}/retry`, { method: "POST" });

/** The one rejected record of a deployment. */
async function theOne(app: RunApp) {
  const items = await app.items("/rejected");
  expect(items).toHaveLength(1);
  return items[0]!;
}

onOneBackend("rejected records", (backend) => {
  test("D-9.5.4 a pulled record is shown whole, and tried again here on any instance, without the remote and with sync disabled", async () => {
    const remote = await startRunApp({ tables: LAX });
    await remote.push("words", { records: [TOO_LONG, { w: "ok", v: "v" }] });
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ env, tables: SHORT });
    await local.trigger({ table: "words", direction: "pull" });
    const item = await theOne(local);
    const detail = await local.ask(`/rejected/${item["id"]}`);
    expect(detail.json).toEqual({ ...item, record: TOO_LONG });
    await remote.stop();
    const again = await retry(local, item["id"]);
    expect([again.status, again.json]).toMatchObject([
      200,
      { status: "rejected", item: { id: item["id"], attempts: 2, key: { w: "<a>" } } },
    ]);
    expect(await theOne(local)).toEqual(again.json["item"] as never);
    const disabled = { ...env, SYNC_ENABLED: "false", SYNC_REMOTE_URL: "" };
    const second = await startRunApp({ env: disabled, tables: LAX });
    const written = await retry(second, item["id"]);
    expect(written.json).toEqual({ status: "written", item: again.json["item"] });
    expect(await second.items("/rejected")).toEqual([]);
    expect((await second.ask("/rows/words?key=<a>")).json["items"]).toEqual([TOO_LONG]);
    expect((await retry(second, item["id"])).status).toBe(404);
  });

  test("D-11.10.3 a waiting record that is older than the row is dropped, though it would be refused again", async () => {
    const remote = await startRunApp({ tables: timed({ type: "text" }) });
    const old = "2026-01-01T00:00:00Z";
    const records = ["run", "retry", "newer"].map((w) => ({ w, v: "too long", at: old }));
    await remote.push("words", { records });
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ env, tables: timed({ type: "text", max_length: 3 }) });
    const pull = { table: "words", direction: "pull" };
    expect((await local.trigger(pull)).json).toMatchObject({ status: "partial", error_count: 3 });
    const at = "2026-01-02T00:00:00Z";
    const here = [{ w: "retry", v: "ok", at }];
    await local.push("words", { records: [...here, { w: "newer", v: "no", at: "2025-01-01" }] });
    const items = await local.items("/rejected");
    const dropped = items.find(({ key }) => (key as { w: string }).w === "retry");
    expect((await retry(local, dropped?.["id"])).json).toEqual({
      ...{ status: "dropped", item: dropped! },
    });
    const newer = items.find(({ key }) => (key as { w: string }).w === "newer");
    expect((await retry(local, newer?.["id"])).json["status"]).toBe("rejected");
    await local.push("words", { records: [{ w: "run", v: "ok", at }] });
    const { json } = await local.trigger(pull);
    expect(json).toMatchObject({ status: "partial", error_count: 1, kept: 2 });
    expect((await theOne(local))["key"]).toEqual({ w: "newer" });
    expect((await local.rows("words")).map(({ w, v }) => `${w} ${v}`)).toEqual([
      ...["newer no", "retry ok", "run ok"],
    ]);
  });

  test("D-7.6.4 a waiting record whose row was deleted since is dropped, by a run and by hand, and its tombstone goes on", async () => {
    const deletes = (column: ColumnEntry) => ({
      words: { ...timed(column).words!, deletes: true },
    });
    const remote = await startRunApp({ tables: deletes({ type: "text" }) });
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ env, tables: deletes({ type: "text", max_length: 3 }) });
    const at = "2026-01-01T00:00:00Z";
    const records = ["run", "retry", "later", "back"].map((w) => ({ w, v: "too long", at }));
    await remote.push("words", { records });
    expect((await local.trigger()).json).toMatchObject({ status: "partial", error_count: 4 });
    const gone = (w: string, deleted_at = at) => ({ key: { w }, deleted_at });
    await local.push("words", { deleted: [gone("retry"), gone("back")] });
    const items = await local.items("/rejected");
    const item = items.find(({ key }) => (key as { w: string }).w === "retry");
    expect((await retry(local, item?.["id"])).json).toEqual({ status: "dropped", item: item! });
    const before = gone("later", "2025-01-01T00:00:00Z");
    await remote.push("words", { deleted: [gone("run"), gone("retry"), before] });
    expect((await local.trigger()).json).toMatchObject({
      ...{ status: "partial", error_count: 1, kept: 2, deleted_there: 1 },
    });
    expect((await theOne(local))["key"]).toEqual({ w: "later" });
    // A push without the guard brings back what the other end knows as deleted.
    await remote.push("words", { records: [{ w: "back", v: "long again", at }] });
    await local.trigger({ table: "words", full: true });
    expect((await theOne(local))["key"]).toEqual({ w: "later" });
    await local.trigger();
    expect((await remote.rows("words")).map(({ w }) => w)).toEqual(["later"]);
  });

  test("D-4.6 a waiting record whose next version a page brings counts once where that is refused too, and else not at all", async () => {
    const remote = await startRunApp({ tables: timed({ type: "text" }) });
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ env, tables: timed({ type: "text", max_length: 3 }) });
    const pull = async (v: string, at: string) => {
      await remote.push("words", { records: ["a", "b"].map((w) => ({ w, v, at })) });
      return (await local.trigger({ table: "words", direction: "pull" })).json;
    };
    for (const [v, at] of [
      ["too long", "2026-01-01T00:00:00Z"],
      ["long again", "2026-01-02T00:00:00Z"],
    ] as const) {
      expect(await pull(v, at)).toMatchObject({
        ...{ status: "partial", error_count: 2, total_pulled: 0 },
      });
    }
    expect(await pull("ok", "2026-01-03T00:00:00Z")).toMatchObject({
      ...{ status: "success", error_count: 0, total_pulled: 2, changed: 2 },
    });
    expect(await local.items("/rejected")).toEqual([]);
  });

  test("D-9.5.4 a pushed record is shown as the row is now, and sent again", async () => {
    const remote = await startRunApp({ tables: SHORT });
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ env, tables: LAX });
    await local.push("words", { records: [TOO_LONG, { w: "b", v: "too long too" }] });
    await local.trigger({ table: "words", direction: "push" });
    const [newer, item] = await local.items("/rejected");
    expect((await local.ask(`/rejected/${item?.["id"]}`)).json["record"]).toEqual(TOO_LONG);
    const rejected = await retry(local, item?.["id"]);
    expect(rejected.json).toMatchObject({ status: "rejected", item: { attempts: 2 } });
    await local.push("words", { records: [{ ...TOO_LONG, v: "ok" }] });
    const second = await startRunApp({ env, tables: LAX });
    const written = await retry(second, item?.["id"]);
    expect([written.status, written.json["status"]]).toEqual([200, "written"]);
    expect(await remote.rows("words")).toEqual([{ w: "<a>", v: "ok" }]);
    expect(await local.items("/rejected")).toEqual([newer!]);
    expect(await local.markers()).toEqual({});
  });

  test("D-9.5.4 a record is not tried again while a run moves its table in its direction", async () => {
    const remote = await startRunApp({ tables: LAX });
    await remote.push("words", { records: [TOO_LONG] });
    const storage = { STORAGE_URL: await backend.makeUrl() };
    const env = { ...storage, SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ env, tables: SHORT });
    await local.trigger({ table: "words", direction: "pull" });
    const { id } = await theOne(local);
    const held = startHeldRemote(remote.url, "/pull/");
    const second = await startRunApp({
      ...{ env: { ...storage, SYNC_REMOTE_URL: held.url }, tables: SHORT },
    });
    const body = { table: "words", direction: "pull", full: true, wait: false };
    const { json: run } = await second.trigger(body);
    await held.reached;
    const refused = await retry(local, id);
    expect([refused.status, Object.keys(refused.json)]).toEqual([409, ["error"]]);
    expect(String(refused.json["error"])).toContain(String(run["run_id"]));
    held.release();
  });
});

test("D-9.5.4 a pushed record needs the remote, and its failures are those of a run", async () => {
  const remote = await startRunApp({ tables: SHORT });
  const url = await SQLITE_FILE.makeUrl();
  const env = { STORAGE_URL: url, SYNC_REMOTE_URL: remote.url };
  const local = await startRunApp({ env, tables: LAX, time: fastTime() });
  await local.push("words", { records: [TOO_LONG] });
  await local.trigger({ table: "words", direction: "push" });
  const { id } = await theOne(local);
  const alone = await startRunApp({ env: { STORAGE_URL: url }, tables: LAX });
  const misconfigured = await retry(alone, id);
  expect([misconfigured.status, misconfigured.json["type"]]).toEqual([400, "config_error"]);
  await remote.stop();
  const failed = await retry(local, id);
  expect([failed.status, failed.json["type"]]).toEqual([500, "sync_error"]);
  expect(await theOne(local)).toMatchObject({ id, attempts: 1 });
  const database = new Database(url.slice("sqlite:".length));
  database.run("DELETE FROM words");
  database.close();
  expect((await alone.ask(`/rejected/${id}`)).json["record"]).toBeNull();
  const unknown = await startRunApp({ env: { STORAGE_URL: url }, tables: {} });
  expect((await unknown.ask(`/rejected/${id}`)).json["record"]).toBeNull();
  expect((await retry(unknown, id)).status).toBe(400);
  await local.stopRuns();
  expect((await retry(local, id)).json["type"]).toBe("sync_error");
});

test("D-9.5.4 rejected records are for administrators, and 404 for what is none", async () => {
  const app = await startApp({ env: ADMIN_ENV });
  const ana = await Person.signUp(app, "ana");
  for (const [path, method] of [
    ["/rejected/0000000000000001", "GET"],
    ["/rejected/0000000000000001/retry", "POST"],
  ] as const) {
    expect((await app.send(SYNC + path, { method })).status).toBe(401);
    expect((await ana.send(SYNC + path, { method })).status).toBe(403);
  }
  const run = await startRunApp();
  for (const id of ["0000000000000001", "1", "x", "%00", "x".repeat(2_000)]) {
    for (const reply of [await run.ask(`/rejected/${id}`), await retry(run, id)]) {
      expect([id, reply.status, Object.keys(reply.json)]).toEqual([id, 404, ["error"]]);
    }
  }
});

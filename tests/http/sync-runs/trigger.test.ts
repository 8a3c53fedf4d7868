// Whole runs between two real deployments, by one request each.
import { expect, test } from "bun:test";
import { onOneBackend } from "../support/backends.ts";
import { fastTime } from "../support/fast-time.ts";
import { TABLE_NAMES, TABLES } from "../support/tables.ts";
import { notes, startPair, startRunApp, versions } from "./support/run-apps.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function listing(sku: string, day: number, price = "1.50") {
  return { shop: "s", sku, price, updated_at: `2026-01-${String(day).padStart(2, "0")}T00:00:00Z` };
}

onOneBackend("trigger()", (backend) => {
  test("S-1.4, S-4.4.3, S-4.4.4, D-4.3 trigger() pushes, then pulls every table, and tells what it did", async () => {
    const { local, remote } = await startPair({ backend });
    await local.push("versions", { records: versions(3, "here") });
    await remote.push("versions", { records: versions(2, "there") });
    await remote.push("listings", { records: [listing("a", 1), listing("b", 2)] });
    const reply = await local.trigger();
    expect(reply.status).toBe(200);
    const { tables, ...result } = reply.json;
    expect(result).toEqual({
      status: "success",
      direction: "both",
      // What was pushed comes back with the pull, and is not written again.
      total_pushed: 3,
      total_pulled: 7,
      error_count: 0,
      ...{ kept: 0, erased: 0, changed: 7, deleted_here: 0, deleted_there: 0 },
      run_id: expect.stringMatching(UUID),
      started_at: expect.stringMatching(TIME),
      finished_at: expect.stringMatching(TIME),
      duration_ms: expect.any(Number),
      full_sync: false,
    });
    const byTable = tables as Record<string, Record<string, unknown>>;
    expect(Object.keys(byTable)).toEqual(TABLE_NAMES);
    expect(byTable["versions"]).toEqual({
      pushed: 3,
      pulled: 5,
      error_count: 0,
      ...{ kept: 0, erased: 0, changed: 5, deleted_here: 0, deleted_there: 0 },
      ...{ count_here: 5, count_there: 5, warnings: [] },
      bytes_compressed: expect.any(Number),
      bytes_uncompressed: expect.any(Number),
      duration_ms: expect.any(Number),
    });
    expect(byTable["listings"]).toMatchObject({ pushed: 0, pulled: 2 });
    for (const name of ["versions", "listings"]) {
      expect(await local.rows(name)).toEqual(await remote.rows(name));
    }
    expect((await local.rows("versions")).length).toBe(5);
  });

  test("S-2.6, S-4.4.3 trigger() moves one table one way when it is told so", async () => {
    const { local, remote } = await startPair({ backend });
    await local.push("notes", { records: notes(2, "here") });
    await local.push("events", { records: [{ code: 1, body: "x" }] });
    await remote.push("notes", { records: notes(1, "there") });
    const pushed = await local.trigger({ direction: "push", table: "notes" });
    expect(pushed.json).toMatchObject({ direction: "push", total_pushed: 2, total_pulled: 0 });
    expect(Object.keys(pushed.json["tables"] as object)).toEqual(["notes"]);
    expect((await local.rows("notes")).length).toBe(2);
    expect((await remote.rows("notes")).length).toBe(3);
    expect(await remote.rows("events")).toEqual([]);
    const pulled = await local.trigger({ direction: "pull", table: "notes" });
    expect(pulled.json).toMatchObject({ direction: "pull", total_pushed: 0, total_pulled: 3 });
    expect(await local.rows("notes")).toEqual(await remote.rows("notes"));
  });

  test("S-1.6, S-4.4.2, D-4.5, D-4.6 trigger() goes on from the marker, and with full from the first row", async () => {
    const { local, remote } = await startPair({ backend });
    await local.push("listings", { records: [1, 2, 3, 4].map((day) => listing(`l${day}`, day)) });
    const table = "listings";
    const first = await local.trigger({ table, direction: "push" });
    expect(first.json).toMatchObject({ total_pushed: 4, full_sync: false });
    const marker = { sync_last_push_listings: "2026-01-04T00:00:00Z" };
    expect(await local.markers()).toEqual(marker);
    await local.push("listings", { records: [listing("l5", 5, "2.75")] });
    const second = await local.trigger({ table, direction: "push" });
    // The row at the marker itself has not changed since it went. D-7.1.
    expect(second.json).toMatchObject({ total_pushed: 1, changed: 1 });
    expect((await remote.rows("listings")).length).toBe(5);
    const full = await local.trigger({ table, direction: "push", full: true });
    expect(full.json).toMatchObject({ total_pushed: 5, full_sync: true });
    const pulled = await local.trigger({ table, direction: "pull" });
    expect(pulled.json).toMatchObject({ total_pulled: 5 });
    const again = await local.trigger({ table, direction: "pull" });
    expect(again.json).toMatchObject({ total_pulled: 1 });
    const all = await local.trigger({ table, direction: "pull", full: true });
    expect(all.json).toMatchObject({ total_pulled: 5, full_sync: true });
  });

  test("S-4.4.2 full clears and saves both markers of the table before it syncs", async () => {
    // Not faster: calls of MongoDB have deadlines by the same clock.
    const { local, remote } = await startPair({ backend, time: fastTime(10) });
    await local.push("listings", { records: [listing("a", 1)] });
    await local.push("versions", { records: [{ name: "v", at: "2026-01-01T00:00:00Z" }] });
    await local.trigger();
    expect(Object.keys(await local.markers()).sort()).toEqual([
      "sync_last_pull_listings",
      "sync_last_pull_versions",
      "sync_last_push_listings",
      "sync_last_push_versions",
    ]);
    await remote.stop();
    // The connection is refused, the markers are gone all the same.
    const reply = await local.trigger({ table: "listings", full: true, direction: "push" });
    expect([reply.status, reply.json["type"]]).toEqual([500, "sync_error"]);
    expect(Object.keys(await local.markers()).sort()).toEqual([
      "sync_last_pull_versions",
      "sync_last_push_versions",
    ]);
  });

  test("D-4.11 dry_run counts what would move, and changes nothing", async () => {
    const { local, remote } = await startPair({ backend });
    await local.push("listings", { records: [1, 2, 3].map((day) => listing(`l${day}`, day)) });
    await remote.push("notes", { records: notes(2) });
    await local.trigger({ table: "listings", direction: "push" });
    const markers = await local.markers();
    const dry = await local.trigger({ dry_run: true });
    expect(dry.status).toBe(200);
    expect(dry.json).toMatchObject({ dry_run: true, total_pushed: 0, full_sync: false });
    expect(dry.json["tables"]).toMatchObject({ notes: { pushed: 0, pulled: 2 } });
    const full = await local.trigger({ dry_run: true, full: true, direction: "push" });
    expect(full.json).toMatchObject({ total_pushed: 3, full_sync: true });
    expect(await local.markers()).toEqual(markers);
    expect(await local.rows("notes")).toEqual([]);
    expect((await local.items("/runs")).length).toBe(1);
  });

  test("D-4.6, D-4.9 a record that the remote rejects is kept, listed and tried again first", async () => {
    const short = { ...TABLES.samples, columns: { ...TABLES.samples.columns } };
    const lax = { ...short, columns: { ...short.columns, short: { type: "text" } } } as const;
    const remote = await startRunApp({ backend });
    const tables = { ...TABLES, samples: lax };
    const local = await startRunApp({ backend, tables, env: { SYNC_REMOTE_URL: remote.url } });
    const records = ["a", "b", "c", "d"].map((name) => ({ name, required: "r", short: "abc" }));
    records[1] = { name: "b", required: "r", short: "too long" };
    records[3] = { name: "d", required: "r", short: "too long" };
    await local.push("samples", { records });
    const body = { table: "samples", direction: "push" };
    const first = await local.trigger(body);
    expect([first.status, first.json["status"], first.json["error_count"]]).toEqual([
      200,
      "partial",
      2,
    ]);
    expect(first.json["total_pushed"]).toBe(2);
    expect((await remote.rows("samples")).map(({ name }) => name)).toEqual(["a", "c"]);
    const rejected = await local.items("/rejected?table=samples");
    expect(rejected).toMatchObject([
      { table: "samples", direction: "push", key: { name: "d" }, attempts: 1 },
      { table: "samples", direction: "push", key: { name: "b" }, attempts: 1 },
    ]);
    expect(Object.keys(rejected[0] ?? {}).sort()).toEqual([
      ...["attempts", "direction", "first_at", "id", "key", "last_at", "message", "table"],
    ]);
    expect(String(rejected[0]?.["message"])).toContain("short");
    expect(await local.items("/rejected?table=notes")).toEqual([]);
    expect((await local.trigger(body)).json["status"]).toBe("partial");
    const [again] = await local.items("/rejected");
    expect(again).toMatchObject({ id: rejected[0]?.["id"], attempts: 2 });
    await local.push("samples", { records: [{ name: "b", required: "r", short: "ok" }] });
    await local.push("samples", { records: [{ name: "d", required: "r", short: "ok" }] });
    expect((await local.trigger(body)).json).toMatchObject({ status: "success", error_count: 0 });
    expect(await local.items("/rejected")).toEqual([]);
    expect((await remote.rows("samples")).length).toBe(4);
  });

  test("D-4.6, D-4.9 a pulled record that is rejected here is kept whole, tried here first, and can be dropped", async () => {
    const remote = await startRunApp({ backend });
    const { columns } = TABLES.versions;
    const strict = { ...columns, body: { type: "text", max_length: 4 } } as const;
    const tables = { ...TABLES, versions: { ...TABLES.versions, columns: strict } };
    const local = await startRunApp({ backend, tables, env: { SYNC_REMOTE_URL: remote.url } });
    const row = (name: string, body: string, day: number) => {
      return { name, body, at: `2026-01-0${day}T00:00:00Z` };
    };
    const records = [row("a", "too long", 1), row("b", "too long", 1), row("c", "good", 2)];
    await remote.push("versions", { records });
    const body = { table: "versions", direction: "pull" };
    const first = await local.trigger(body);
    expect(first.json).toMatchObject({ status: "partial", total_pulled: 1, error_count: 2 });
    const rejected = await local.items("/rejected");
    expect(rejected).toMatchObject([
      { direction: "pull", table: "versions", key: { name: "b" }, attempts: 1 },
      { direction: "pull", table: "versions", key: { name: "a" }, attempts: 1 },
    ]);
    // The marker has moved on: the kept record is what is tried again.
    expect((await local.markers())["sync_last_pull_versions"]).toBe("2026-01-02T00:00:00Z");
    const dropped = await local.ask(`/rejected/${rejected[0]?.["id"]}`, { method: "DELETE" });
    expect([dropped.status, dropped.json]).toEqual([200, { status: "dropped" }]);
    const gone = await local.ask(`/rejected/${rejected[0]?.["id"]}`, { method: "DELETE" });
    expect([gone.status, Object.keys(gone.json)]).toEqual([404, ["error"]]);
    expect((await local.trigger(body)).json).toMatchObject({ status: "partial", error_count: 1 });
    expect(await local.items("/rejected")).toMatchObject([{ key: { name: "a" }, attempts: 2 }]);
    await remote.push("versions", { records: [row("a", "fits", 3)] });
    expect((await local.trigger(body)).status).toBe(200);
    expect(await local.items("/rejected")).toEqual([]);
    expect((await local.rows("versions")).map(({ name }) => name)).toEqual(["a", "c"]);
  });

  test("D-4.9 the runs are listed newest first, in parts, and found by id", async () => {
    const { local } = await startPair({ backend });
    await local.push("versions", { records: versions(1) });
    const ids: unknown[] = [];
    for (const direction of ["push", "pull", "both", "push", "pull"]) {
      ids.unshift((await local.trigger({ table: "versions", direction })).json["run_id"]);
    }
    const all = await local.items("/runs");
    expect(all.map(({ run_id }) => run_id)).toEqual(ids);
    expect(all[0]).toMatchObject({ trigger: "api", status: "success", direction: "pull" });
    const seen: unknown[] = [];
    let cursor: unknown = "";
    for (let parts = 0; cursor !== null; parts++) {
      expect(parts).toBeLessThan(4);
      const { json } = await local.ask(`/runs?limit=2&cursor=${cursor}`);
      seen.push(...(json["items"] as { run_id: string }[]).map(({ run_id }) => run_id));
      cursor = json["next_cursor"];
    }
    expect(seen).toEqual(ids);
    const one = await local.ask(`/runs/${ids[2]}`);
    expect([one.status, one.json]).toEqual([200, { ...all[2] }]);
    const unknown = await local.ask("/runs/00000000-0000-4000-8000-000000000000");
    expect([unknown.status, Object.keys(unknown.json)]).toEqual([404, ["error"]]);
  });
});

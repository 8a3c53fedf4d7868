// Deployments that all live: edits at all ends, imports of old rows, spokes of a hub. D-7.1, D-7.4, D-7.11.
import { expect, test } from "bun:test";
import { SystemTimer } from "../../../../src/adapters/system/system.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { MONGODB, onBackends, POSTGRESQL, SQLITE_FILE } from "../../support/backends.ts";
import { startForwarder } from "../support/forwarder.ts";
import { type RunApp, startPair, startRunApp } from "../support/run-apps.ts";

const TABLES = {
  items: {
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
  days: {
    timestamp_column: "day",
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text" }, day: { type: "date" } },
  },
} as const satisfies Record<string, TableEntry>;

const OLD = "2026-01-01T00:00:00Z";
const NEW = "2026-01-02T00:00:00Z";

/** Writes rows as the programs of a deployment do: key, value, time. */
async function write(app: RunApp, ...rows: readonly (readonly [string, string, string])[]) {
  const reply = await app.push("items", { records: rows.map(([k, v, at]) => ({ k, v, at })) });
  expect(reply.json["upserted"]).toBe(rows.length);
}

async function values(app: RunApp, table = "items"): Promise<readonly string[]> {
  return (await app.rows(table)).map(({ k, v }) => `${k} ${v}`);
}

onBackends([SQLITE_FILE, MONGODB, POSTGRESQL], "live ends", (backend) => {
  test.each([{}, { full: true }])(
    "D-7.1 the first run keeps the newest rows of both ends: %p",
    async (more) => {
      const { local, remote } = await startPair({ backend, tables: TABLES });
      await write(local, ["a", "stale", OLD], ["b", "fresh", NEW]);
      await write(remote, ["a", "fresh", NEW], ["b", "stale", OLD]);
      const { json } = await local.trigger({ table: "items", ...more });
      expect(json).toMatchObject({ status: "success", kept: 1, changed: 2 });
      for (const app of [local, remote]) expect(await values(app)).toEqual(["a fresh", "b fresh"]);
    },
  );

  test.each([
    ["overwrite", false, "a fresh", { kept: 1, changed: 1 }],
    ["newer", true, "a stale", { kept: 0, changed: 2 }],
  ] as const)(
    "D-7.2.1, D-11.10.2 a push to a table with conflict %p, force %p, leaves %p there behind a gateway that drops headers",
    async (conflict, force, left, counts) => {
      const gateway = startForwarder();
      gateway.drops = ["X-Sync-Conflict", "X-Sync-Run", "X-Sync-Columns"];
      const items = { ...TABLES.items, conflict };
      const remote = await startRunApp({ backend, tables: { items } });
      gateway.target = remote.url;
      const env = { SYNC_REMOTE_URL: gateway.url };
      const local = await startRunApp({ backend, tables: { items }, env });
      await write(local, ["a", "stale", OLD], ["b", "1", NEW]);
      await write(remote, ["a", "fresh", NEW]);
      const { json } = await local.trigger({ table: "items", direction: "push", force });
      expect(await values(remote)).toEqual([left, "b 1"]);
      expect(json).toMatchObject({ status: "success", ...counts });
    },
  );

  test("D-7.1 rows that were never touched here do not revert the edits of the other end", async () => {
    const { local, remote } = await startPair({ backend, tables: TABLES });
    const day = "2026-01-05";
    await remote.push("days", {
      records: [
        { k: "a", v: "1", day },
        { k: "b", v: "1", day },
      ],
    });
    await local.trigger({ table: "days", direction: "pull" });
    await remote.push("days", { records: [{ k: "a", v: "edited", day }] });
    const pushed = await local.trigger({ table: "days", direction: "push" });
    expect(pushed.json).toMatchObject({ total_pushed: 0, changed: 0 });
    expect(await values(remote, "days")).toEqual(["a edited", "b 1"]);
    await local.trigger({ table: "days" });
    expect(await values(local, "days")).toEqual(["a edited", "b 1"]);
  });

  test("D-7.4 rows of half a minute ago arrive where the clocks of both ends are ahead of their stores'", async () => {
    const clock = { nowMs: () => Date.now() + 45_000, monotonicMs: () => performance.now() };
    const time = { clock, timer: new SystemTimer() };
    const { local, remote } = await startPair({ backend, tables: TABLES, time });
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
    await write(local, ["a", "1", ago(16)]);
    await write(remote, ["b", "1", ago(16)]);
    await local.trigger({ table: "items" });
    await write(local, ["c", "1", ago(30)]);
    await write(remote, ["d", "1", ago(30)]);
    await local.trigger({ table: "items" });
    for (const app of [local, remote])
      expect(await values(app)).toEqual(["a 1", "b 1", "c 1", "d 1"]);
  });

  test("D-7.1 force overwrites one way, and with both it is refused", async () => {
    const { local, remote } = await startPair({ backend, tables: TABLES });
    await write(local, ["a", "stale", OLD]);
    await write(remote, ["a", "fresh", NEW]);
    expect((await local.trigger({ table: "items", force: true })).status).toBe(400);
    const { json } = await local.trigger({ table: "items", direction: "push", force: true });
    expect(json).toMatchObject({ kept: 0, status: "success" });
    expect(await values(remote)).toEqual(["a stale"]);
  });

  test.each(["push", "pull"] as const)(
    "D-7.1.1, D-11.10.2 a forced %s overwrites newer rows that their table keeps, and tells what it wrote",
    async (direction) => {
      const items = { ...TABLES.items, conflict: "newer" } as const;
      const { local, remote } = await startPair({ backend, tables: { items } });
      const [from, to] = direction === "push" ? [local, remote] : [remote, local];
      await write(from, ["a", "stale", OLD]);
      await write(to, ["a", "fresh", NEW]);
      const { json } = await local.trigger({ table: "items", direction, force: true });
      expect(json).toMatchObject({ status: "success", changed: 1, kept: 0 });
      expect(await values(to)).toEqual(["a stale"]);
    },
  );

  test.each(["push", "pull"] as const)(
    "D-7.11 a forced %s of rows that are there as they are changes none",
    async (direction) => {
      const { local } = await startPair({ backend, tables: TABLES });
      await write(local, ["a", "1", OLD], ["b", "1", NEW]);
      await local.trigger({ table: "items" });
      const forced = { table: "items", direction, force: true, full: true };
      const { json } = await local.trigger(forced);
      expect(json).toMatchObject({ [`total_${direction}ed`]: 2, changed: 0, kept: 0 });
    },
  );

  test("D-7.4 rows that are imported after a run, with old times, travel with the next one", async () => {
    const { local, remote } = await startPair({ backend, tables: TABLES });
    await write(local, ["a", "1", NEW]);
    await local.trigger({ table: "items" });
    const old = Array.from({ length: 300 }, (_, i) => [`old ${1000 + i}`, "1", OLD] as const);
    await write(local, ...old);
    await write(remote, ["late there", "1", OLD]);
    const { json } = await local.trigger({ table: "items" });
    expect(json).toMatchObject({ changed: 301 });
    expect(await values(remote)).toHaveLength(302);
    expect(await values(local)).toEqual(await values(remote));
    expect((await local.trigger({ table: "items" })).json).toMatchObject({ changed: 0, kept: 0 });
  });

  test("D-7.4 what one spoke brings late to a hub reaches the other", async () => {
    const hub = await startRunApp({ backend, tables: TABLES });
    const env = { SYNC_REMOTE_URL: hub.url };
    const [a, b] = [
      await startRunApp({ backend, tables: TABLES, env }),
      await startRunApp({ backend, tables: TABLES, env }),
    ];
    await write(b, ["b", "1", NEW]);
    await b.trigger({ table: "items" });
    await write(a, ["a", "1", OLD]);
    await a.trigger({ table: "items" });
    await b.trigger({ table: "items" });
    for (const app of [a, b, hub]) expect(await values(app)).toEqual(["a 1", "b 1"]);
  });

  test("D-7.4 rows go on along a chain of pushes", async () => {
    const c = await startRunApp({ backend, tables: TABLES });
    const b = await startRunApp({ backend, tables: TABLES, env: { SYNC_REMOTE_URL: c.url } });
    const a = await startRunApp({ backend, tables: TABLES, env: { SYNC_REMOTE_URL: b.url } });
    await write(b, ["b", "1", NEW]);
    const push = { table: "items", direction: "push" };
    await b.trigger(push);
    await write(a, ["a", "1", OLD]);
    await a.trigger(push);
    await b.trigger(push);
    expect(await values(c)).toEqual(["a 1", "b 1"]);
  });

  test("D-7.4 whoever keeps a newer row sends it back", async () => {
    const { local, remote } = await startPair({ backend, tables: TABLES });
    await write(local, ["a", "newest", NEW], ["z", "1", "2026-01-03T00:00:00Z"]);
    await local.trigger({ table: "items" });
    await write(remote, ["a", "old version", OLD]);
    const pulled = await local.trigger({ table: "items", direction: "pull" });
    expect(pulled.json).toMatchObject({ kept: 1, changed: 0 });
    await local.trigger({ table: "items" });
    for (const app of [local, remote]) expect(await values(app)).toEqual(["a newest", "z 1"]);
  });

  test("D-7.11 an idle schedule shows that nothing changes", async () => {
    const { local, remote } = await startPair({ backend, tables: TABLES });
    const now = new Date().toISOString();
    await write(local, ["a", "1", NEW], ["b", "1", now]);
    await write(remote, ["c", "1", NEW], ["d", "1", now]);
    await local.trigger({ table: "items" });
    for (let i = 0; i < 2; i++) {
      const { json } = await local.trigger({ table: "items" });
      expect(json).toMatchObject({ total_pushed: 0, changed: 0, kept: 0 });
    }
  });

  test("D-7.7 what a run refuses waits, and is dropped once the row here is newer", async () => {
    const strict = { ...TABLES.items, columns: { ...TABLES.items.columns } };
    const short = {
      items: { ...strict, columns: { ...strict.columns, v: { type: "text", max_length: 3 } } },
    } as const;
    const remote = await startRunApp({ backend, tables: TABLES });
    const env = { SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ backend, tables: short, env });
    await write(remote, ["a", "too long", OLD], ["b", "ok", NEW]);
    const pull = { table: "items", direction: "pull" };
    expect((await local.trigger(pull)).json).toMatchObject({ status: "partial", error_count: 1 });
    expect(await local.items("/rejected")).toHaveLength(1);
    await write(local, ["a", "new", NEW]);
    await write(remote, ["a", "fix", OLD]);
    await local.trigger(pull);
    expect(await values(local)).toEqual(["a new", "b ok"]);
    const [entry] = await local.items("/rejected");
    expect(entry).toBeUndefined();
  });

  test("D-7.7 a record that was dropped makes no run partial until it changes", async () => {
    const short = {
      items: {
        ...TABLES.items,
        columns: { ...TABLES.items.columns, v: { type: "text", max_length: 3 } },
      },
    } as const;
    const remote = await startRunApp({ backend, tables: TABLES });
    const env = { SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ backend, tables: short, env });
    const now = new Date().toISOString();
    await write(remote, ["a", "too long", now]);
    const pull = { table: "items", direction: "pull" };
    expect((await local.trigger(pull)).json).toMatchObject({ status: "partial" });
    const [entry] = await local.items("/rejected");
    await local.ask(`/rejected/${entry?.["id"]}`, { method: "DELETE" });
    expect((await local.trigger(pull)).json).toMatchObject({ status: "success", error_count: 0 });
    expect(await local.items("/rejected")).toEqual([]);
    await write(remote, ["a", "too long again", now]);
    expect((await local.trigger(pull)).json).toMatchObject({ status: "partial", error_count: 1 });
  });
});

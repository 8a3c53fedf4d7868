// A deployment whose remote changes between runs: what is remembered of a remote is that remote's. D-11.10.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Backend } from "../../support/backends.ts";
import { onOneBackend } from "../../support/backends.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

const TABLES = {
  items: {
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text", max_length: 5 }, at: { type: "datetime" } },
  },
} as const satisfies Record<string, TableEntry>;

const LAX = {
  items: { ...TABLES.items, columns: { ...TABLES.items.columns, v: { type: "text" } } },
} as const satisfies Record<string, TableEntry>;

const OLD = "2026-01-01T00:00:00Z";
const NEW = "2026-01-02T00:00:00Z";
const OTHER_REMOTE =
  'The remote is another one than in the run before: what was remembered of "items" is that one\'s, so all rows are looked at';

async function write(app: RunApp, ...rows: readonly (readonly [string, string, string])[]) {
  const reply = await app.push("items", { records: rows.map(([k, v, at]) => ({ k, v, at })) });
  expect(reply.json["upserted"]).toBe(rows.length);
}

async function values(app: RunApp): Promise<readonly string[]> {
  return (await app.rows("items")).map(({ k, v }) => `${k} ${v}`);
}

/** A deployment that is started again and again on one store, each time with another remote. */
async function onOneStore(backend: Backend): Promise<(remoteUrl: string) => Promise<RunApp>> {
  const url = await backend.makeUrl();
  let last: RunApp | null = null;
  return async (remoteUrl) => {
    await last?.stop();
    const env = { STORAGE_URL: url, SYNC_REMOTE_URL: remoteUrl };
    last = await startRunApp({ backend, tables: TABLES, env });
    return last;
  };
}

function warnings(json: Readonly<Record<string, unknown>>): unknown {
  return (json["tables"] as Record<string, { warnings?: unknown }>)["items"]?.warnings ?? [];
}

onOneBackend("another remote", (backend) => {
  test("D-11.10.1 rows that came from one remote go on to another, late ones and fresh ones", async () => {
    const [x, c] = [
      await startRunApp({ backend, tables: TABLES }),
      await startRunApp({ backend, tables: TABLES }),
    ];
    const start = await onOneStore(backend);
    await write(x, ["late", "x", OLD], ["fresh", "x", new Date().toISOString()]);
    const fromX = await start(x.url);
    const pulled = await fromX.trigger({ table: "items", direction: "pull" });
    expect(pulled.json).toMatchObject({ total_pulled: 2 });
    expect(warnings(pulled.json)).toEqual([]);
    const toC = await start(c.url);
    const pushed = await toC.trigger({ table: "items", direction: "push" });
    expect(pushed.json).toMatchObject({ status: "success", total_pushed: 2 });
    expect(warnings(pushed.json)).toEqual([OTHER_REMOTE]);
    expect(await values(c)).toEqual(["fresh x", "late x"]);
    const again = await toC.trigger({ table: "items" });
    expect(again.json).toMatchObject({ total_pushed: 0, changed: 0 });
    expect(warnings(again.json)).toEqual([]);
  });

  test("D-11.10.1 a remote that comes after pushes is given, and asked for, all rows", async () => {
    const [x, c] = [
      await startRunApp({ backend, tables: TABLES }),
      await startRunApp({ backend, tables: TABLES }),
    ];
    const start = await onOneStore(backend);
    await write(c, ["c", "1", OLD]);
    const first = await start(x.url);
    await write(first, ["own", "1", OLD]);
    await first.trigger({ table: "items" });
    expect(await values(x)).toEqual(["own 1"]);
    const second = await start(c.url);
    expect((await second.trigger({ table: "items" })).json).toMatchObject({ changed: 2 });
    for (const app of [second, c]) expect(await values(app)).toEqual(["c 1", "own 1"]);
    // And back: the one before is another one again, and gets what came meanwhile.
    const third = await start(x.url);
    expect((await third.trigger({ table: "items", direction: "push" })).json).toMatchObject({
      changed: 1,
    });
    expect(await values(x)).toEqual(["c 1", "own 1"]);
  });

  test("D-11.10.1 a record that one remote's pull left waiting goes on to another once it is written", async () => {
    const [x, c] = [
      await startRunApp({ backend, tables: LAX }),
      await startRunApp({ backend, tables: LAX }),
    ];
    const url = await backend.makeUrl();
    await write(x, ["k", "too long", OLD]);
    const strict = await startRunApp({
      ...{ backend, tables: TABLES },
      env: { STORAGE_URL: url, SYNC_REMOTE_URL: x.url },
    });
    const pulled = await strict.trigger({ table: "items", direction: "pull" });
    expect(pulled.json).toMatchObject({ status: "partial", error_count: 1 });
    await strict.stop();
    const env = { STORAGE_URL: url, SYNC_REMOTE_URL: c.url };
    const lax = await startRunApp({ backend, tables: LAX, env });
    await lax.trigger({ table: "items" });
    await lax.trigger({ table: "items", direction: "push" });
    expect(await values(c)).toEqual(["k too long"]);
  });

  test("D-11.10.1 an address that moves is the same remote, and nothing is looked at again", async () => {
    const stored = { STORAGE_URL: await backend.makeUrl() };
    const before = await startRunApp({ backend, tables: TABLES, env: stored });
    const start = await onOneStore(backend);
    await write(before, ["a", "1", OLD]);
    await (await start(before.url)).trigger({ table: "items" });
    await before.stop();
    const moved = await startRunApp({ backend, tables: TABLES, env: stored });
    expect(moved.url).not.toBe(before.url);
    const reply = await (await start(moved.url)).trigger({ table: "items" });
    expect(reply.json).toMatchObject({ status: "success", total_pushed: 0, total_pulled: 1 });
    expect(warnings(reply.json)).toEqual([]);
  });

  test("D-11.10.1 a repair that takes rows from another remote leaves them to be sent to the one before", async () => {
    const [x, c] = [
      await startRunApp({ backend, tables: TABLES }),
      await startRunApp({ backend, tables: TABLES }),
    ];
    const start = await onOneStore(backend);
    await write(x, ["x", "1", OLD]);
    await write(c, ["c", "1", OLD]);
    const first = await start(x.url);
    await write(first, ["own", "1", NEW]);
    await first.trigger({ table: "items" });
    const repaired = await (await start(c.url)).ask("/compare", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ table: "items", repair: "pull" }),
    });
    expect(repaired.json).toMatchObject({ repaired: 1 });
    await (await start(x.url)).trigger({ table: "items" });
    expect(await values(x)).toEqual(["c 1", "own 1", "x 1"]);
  });
});

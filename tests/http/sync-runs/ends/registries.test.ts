// Two deployments whose registries differ, and change between runs.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { type Backend, onOneBackend } from "../../support/backends.ts";
import type { JsonFields } from "../../support/sync-app.ts";
import { startForwarder } from "../support/forwarder.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

const ITEMS: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
};
const WITH_NOTES: TableEntry = { ...ITEMS, columns: { ...ITEMS.columns, notes: { type: "text" } } };
const KEYED: TableEntry = { ...ITEMS, upsert_key: ["k", "v"] };
const T1 = "2026-01-01T10:00:00Z";
const T2 = "2026-01-01T11:00:00Z";

interface Pair {
  readonly seen: string[];
  local(): RunApp;
  remote(): RunApp;
  /** Starts an end again, on its store, with another registry. */
  restart(end: "local" | "remote", entry: TableEntry): Promise<void>;
}

async function startPair(backend: Backend, local: TableEntry, remote: TableEntry): Promise<Pair> {
  const urls = { local: await backend.makeUrl(), remote: await backend.makeUrl() };
  const forwarder = startForwarder();
  const apps: Partial<Record<"local" | "remote", RunApp>> = {};
  const pair: Pair = {
    seen: forwarder.seen,
    local: () => apps.local!,
    remote: () => apps.remote!,
    async restart(end, entry) {
      await apps[end]?.stop();
      const env = { STORAGE_URL: urls[end], SYNC_REMOTE_URL: forwarder.url };
      const app = await startRunApp({ env, tables: { items: entry } });
      apps[end] = app;
      if (end === "remote") forwarder.target = app.url;
    },
  };
  await pair.restart("remote", remote);
  await pair.restart("local", local);
  return pair;
}

const both = (pair: Pair) => pair.local().trigger({ table: "items" });
const push = (pair: Pair) => pair.local().trigger({ table: "items", direction: "push" });
const itemOf = ({ json }: { json: JsonFields }) => (json["tables"] as { items: JsonFields }).items;
const put = async (app: RunApp, ...records: readonly JsonFields[]) =>
  expect((await app.push("items", { records })).json["upserted"]).toBe(records.length);

onOneBackend("registries", (backend) => {
  test("D-7.3 another upsert key is sync_error before the first row, and no two rows become one", async () => {
    const pair = await startPair(backend, ITEMS, KEYED);
    await put(pair.local(), { k: "a", v: "1", at: T1 });
    await put(pair.remote(), { k: "b", v: "1", at: T1 }, { k: "b", v: "2", at: T1 });
    for (const direction of ["push", "pull", "both"]) {
      const reply = await pair.local().trigger({ table: "items", direction });
      expect([reply.status, reply.json]).toEqual([
        500,
        {
          error:
            'Table "items" has the upsert key k (text) here and k (text), v (text) there; ' +
            "make upsert_key equal in both registries",
          type: "sync_error",
        },
      ]);
    }
    expect(pair.seen.filter((request) => /push|pull/.test(request))).toEqual([]);
    expect((await pair.local().rows("items")).length).toBe(1);
    expect((await pair.remote().rows("items")).length).toBe(2);
  });

  test("D-7.3 a column that is only there ends the push; with both the table is pulled all the same", async () => {
    const pair = await startPair(backend, ITEMS, WITH_NOTES);
    await put(pair.local(), { k: "a", v: "1", at: T2 });
    await put(pair.remote(), { k: "a", v: "0", at: T1, notes: "x" });
    await put(pair.remote(), { k: "b", v: "0", at: T1, notes: "y" });
    const before = await pair.remote().rows("items");
    const reply = await both(pair);
    expect([reply.status, reply.json["type"]]).toEqual([500, "sync_error"]);
    expect(reply.json["error"]).toContain('"notes" is only there and would be emptied');
    const [run] = await pair.local().items("/runs");
    expect(run).toMatchObject({
      ...{ status: "failed", error: reply.json["error"] },
      tables: { items: { pushed: 0, pulled: 2, kept: 1, changed: 1 } },
    });
    expect(await pair.remote().rows("items")).toEqual(before);
    expect((await pair.local().rows("items")).map(({ k, v }) => [k, v])).toEqual([
      ["a", "1"],
      ["b", "0"],
    ]);
    const stream = await pair.local().stream({ table: "items", direction: "push" });
    expect(stream.map(({ type }) => type)).toEqual(["error", "finished"]);
  });

  test("D-7.3 a column that is not there is left out, with a warning in the result", async () => {
    const pair = await startPair(backend, WITH_NOTES, ITEMS);
    await put(pair.local(), { k: "a", v: "1", at: T1, notes: "mine" });
    await put(pair.remote(), { k: "a", v: "2", at: T2 });
    const reply = await both(pair);
    expect([reply.status, itemOf(reply)["warnings"]]).toEqual([
      200,
      ['Columns that the remote does not have are left out: "notes"'],
    ]);
    expect(await pair.local().rows("items")).toEqual([{ k: "a", v: "2", at: T2, notes: "mine" }]);
    expect(await pair.remote().rows("items")).toEqual([{ k: "a", v: "2", at: T2 }]);
  });

  test("D-7.3.3 a column that both registries get later is fetched before it is sent", async () => {
    const pair = await startPair(backend, ITEMS, ITEMS);
    await put(pair.remote(), { k: "a", v: "1", at: T1 }, { k: "b", v: "1", at: T1 });
    expect((await both(pair)).status).toBe(200);
    await pair.restart("remote", WITH_NOTES);
    await put(pair.remote(), { k: "a", v: "1", at: T1, notes: "of a" });
    await put(pair.remote(), { k: "b", v: "1", at: T1, notes: "of b" });
    await pair.restart("local", WITH_NOTES);
    await put(pair.local(), { k: "b", v: "mine", at: T2 });
    const refused = await push(pair);
    expect([refused.status, refused.json]).toEqual([
      500,
      {
        error:
          'Columns of "items" are new here, and a push would empty them at the remote: "notes"; ' +
          "pull the table first, or run both",
        type: "sync_error",
      },
    ]);
    expect((await both(pair)).status).toBe(200);
    const expected = [
      { k: "a", v: "1", at: T1, notes: "of a" },
      { k: "b", v: "mine", at: T2, notes: "of b" },
    ];
    expect(await pair.local().rows("items")).toEqual(expected);
    expect(await pair.remote().rows("items")).toEqual(expected);
    const idle = await both(pair);
    expect([idle.status, itemOf(idle)["changed"]]).toEqual([200, 0]);
  });

  test("D-7.3.4 a column that appears there later makes the next push begin anew", async () => {
    const pair = await startPair(backend, WITH_NOTES, ITEMS);
    const rows = [
      { k: "a", v: "1", at: T1, notes: "of a" },
      { k: "b", v: "1", at: T2, notes: "of b" },
    ];
    await put(pair.local(), ...rows);
    expect((await push(pair)).status).toBe(200);
    await pair.restart("remote", WITH_NOTES);
    const reply = await push(pair);
    expect(itemOf(reply)).toMatchObject({ pushed: 2, changed: 2, warnings: [] });
    expect(await pair.remote().rows("items")).toEqual(rows);
    expect(itemOf(await push(pair))).toMatchObject({ pushed: 0, changed: 0 });
  });

  test("D-7.5 100 changed rows cost at most 6 requests", async () => {
    const pair = await startPair(backend, ITEMS, ITEMS);
    const rows = (prefix: string, at: string) =>
      Array.from({ length: 1000 }, (_, i) => {
        const part = String(i).padStart(3, "0");
        return { k: `${prefix}${i}`, v: "1", at: at.replace("Z", `.${part}Z`) };
      });
    await put(pair.local(), ...rows("here", T1));
    await put(pair.remote(), ...rows("there", T1));
    expect((await both(pair)).status).toBe(200);
    await put(pair.local(), ...rows("here", T2).slice(0, 100));
    await put(pair.remote(), ...rows("there", T2).slice(0, 100));
    pair.seen.length = 0;
    const reply = await both(pair);
    expect(itemOf(reply)).toMatchObject({ count_here: 2000, count_there: 2000, changed: 200 });
    expect(pair.seen).toEqual([
      ...["GET /status", "GET /schema/items", "POST /push/items"],
      ...["GET /pull/items", "GET /pull/items"],
    ]);
  });
});

// Tables in which repsync keeps the time, on real stores. D-14.2.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { jsonBody } from "./reputation/people.ts";
import { onEveryBackend } from "./support/backends.ts";
import { type JsonFields, SYNC_KEY } from "./support/sync-app.ts";
import { type RunApp, startRunApp } from "./sync-runs/support/run-apps.ts";

const PLAIN: TableEntry = {
  ...{ timestamp_column: "at", upsert_key: ["k"], deletes: true },
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "text" } },
};
const STAMPED: TableEntry = { ...PLAIN, stamped: true };
const AT = "2024-05-01T10:00:00Z";
const FIRST = "1970-01-01T00:00:00Z";
const WARNING = 'Only one end gives times to rows without one: "stamped" is on here and off there';

const write = async (app: RunApp, records: readonly JsonFields[], headers = {}) =>
  (await app.push("items", { records }, headers)).json;

async function contents(app: RunApp): Promise<string> {
  const rows = await app.rows("items");
  return rows
    .map(({ k, v }) => `${k}=${v}`)
    .sort()
    .join(" ");
}

const tableOf = ({ json }: { readonly json: JsonFields }) =>
  (json["tables"] as Readonly<Record<string, JsonFields>>)["items"];

onEveryBackend("stamped tables", (backend) => {
  const start = (entry: TableEntry, env = {}) =>
    startRunApp({ backend, tables: { items: entry }, env });

  async function startPair(here: TableEntry, there: TableEntry) {
    const remote = await start(there);
    return { remote, local: await start(here, { SYNC_REMOTE_URL: remote.url }) };
  }

  test("D-14.2, D-14.2.2 a push without X-Sync-Conflict stamps; guarded, forced and runs' pushes refuse a row without a time", async () => {
    const app = await start(STAMPED);
    const before = Date.now() - 1000;
    expect(
      await write(app, [
        { k: "a", v: "1" },
        { k: "b", v: "1", at: AT },
      ]),
    ).toMatchObject({
      upserted: 2,
    });
    const [a, b] = await app.rows("items");
    expect([b?.["at"], a?.["k"]]).toEqual([AT, "a"]);
    expect(Date.parse(String(a?.["at"]))).toBeGreaterThan(before);
    for (const headers of [
      { "X-Sync-Conflict": "newer" },
      { "X-Sync-Conflict": "overwrite" },
      { "X-Sync-Run": "run-1" },
    ]) {
      const rows = [
        { k: "a", v: "2" },
        { k: "b", v: "2", at: null },
        { k: "c", v: "2", at: AT },
      ];
      expect(await write(app, rows, headers)).toMatchObject({
        upserted: 1,
        error_count: 2,
        errors: [
          "k=a: at is missing or null: runs and guarded pushes bring it",
          "k=b: at is missing or null: runs and guarded pushes bring it",
        ],
      });
    }
    expect(await contents(app)).toBe("a=1 b=1 c=2");
    const headers = { "X-Sync-Key": SYNC_KEY };
    const schema = await app.send("/api/v1/sync/schema/items", { headers });
    expect(schema.json["stamped"]).toBe(true);
  });

  test("D-14.2 two ends whose rows bring no time both edit and delete, and runs carry the latest", async () => {
    const { local, remote } = await startPair(STAMPED, STAMPED);
    await write(local, [
      { k: "a", v: "1" },
      { k: "b", v: "1" },
    ]);
    await local.trigger({ table: "items" });
    await write(remote, [
      { k: "a", v: "2" },
      { k: "b", v: "1" },
    ]);
    await write(local, [
      { k: "c", v: "1" },
      { k: "a", v: "1" },
    ]);
    const ran = await local.trigger({ table: "items" });
    expect(tableOf(ran)).toMatchObject({ changed: 2, error_count: 0, warnings: [] });
    expect([await contents(local), await contents(remote)]).toEqual([
      ...["a=2 b=1 c=1", "a=2 b=1 c=1"],
    ]);
  });

  test("D-14.2.4 rows without a time get the first one when their table becomes stamped, and travel where they are missing", async () => {
    const urls = { here: await backend.makeUrl(), there: await backend.makeUrl() };
    const startOn = async (entry: TableEntry) => {
      const remote = await start(entry, { STORAGE_URL: urls.there });
      const env = { SYNC_REMOTE_URL: remote.url, STORAGE_URL: urls.here };
      return { remote, local: await start(entry, env) };
    };
    const { local, remote } = await startOn(PLAIN);
    await write(local, [
      { k: "same", v: "1" },
      { k: "here", v: "1" },
      { k: "both", v: "mine" },
    ]);
    await write(remote, [
      { k: "same", v: "1" },
      { k: "there", v: "1" },
      { k: "both", v: "theirs" },
    ]);
    await local.stop();
    await remote.stop();
    const ends = await startOn(STAMPED);
    expect((await ends.local.rows("items")).map(({ at }) => at)).toEqual([FIRST, FIRST, FIRST]);
    const ran = await ends.local.trigger({ table: "items" });
    expect(tableOf(ran)).toMatchObject({ changed: 2, kept: 2, error_count: 0 });
    const union = (both: string) => `both=${both} here=1 same=1 there=1`;
    expect([await contents(ends.local), await contents(ends.remote)]).toEqual([
      ...[union("mine"), union("theirs")],
    ]);
    const request = jsonBody({ table: "items", repair: "newest" });
    const repaired = await ends.local.ask("/compare", request);
    expect(repaired.json).toMatchObject({ different: 1, repaired: 0, kept: 1 });
    expect(repaired.json["examples"]).toMatchObject({
      kept: [{ key: { k: "both" }, reason: "no_owner" }],
    });
    await write(ends.remote, [{ k: "both", v: "edited" }]);
    await ends.local.trigger({ table: "items" });
    expect(await contents(ends.local)).toBe(union("edited"));
  });

  test("D-14.2.2, D-14.2.5 where one end stamps and the other does not a run warns, and refuses rows without a time", async () => {
    const { local, remote } = await startPair(STAMPED, PLAIN);
    await write(remote, [
      { k: "a", v: "1" },
      { k: "b", v: "1", at: AT },
    ]);
    const ran = await local.trigger({ table: "items", direction: "pull" });
    expect(tableOf(ran)).toMatchObject({ warnings: [WARNING], error_count: 1, changed: 1 });
    expect(await contents(local)).toBe("b=1");
  });
});

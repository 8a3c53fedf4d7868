// Runs over rows that other tools wrote into a store.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { Decimal128, MongoClient, ObjectId } from "mongodb";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { keepResource } from "../../../support/resources.ts";
import { fileOf, resultOf } from "../../rows/support/import-replies.ts";
import { isPostgres } from "../../stores/support/raw-store.ts";
import {
  connectSql,
  MONGODB,
  onBackends,
  onEveryBackend,
  POSTGRESQL,
  SQLITE_FILE,
} from "../../support/backends.ts";
import { startPair, startRunApp } from "../support/run-apps.ts";

/** Texts of a timestamp column, and what a page shows of each. */
const TEXTS = [
  ["2024-02-30", "2024-02-30"],
  ["2024-01-01T00:00:30+02:00", "2023-12-31T22:00:30Z"],
  ["2023-12-31 22:01:00-0200", "2024-01-01T00:01:00Z"],
  ["2024-01-01 00:02:00.25", "2024-01-01T00:02:00.250Z"],
  ["2024-01-01T00:03:60", "2024-01-01T00:03:60"],
] as const;

for (const direction of ["pull", "push"] as const) {
  test(`D-7.10.1 a ${direction} brings rows whose time is none, or has a zone, and all others`, async () => {
    const urls: string[] = [];
    const makeUrl = async () => {
      urls.push(await SQLITE_FILE.makeUrl());
      return urls.at(-1) ?? "";
    };
    const pages = { SYNC_MAX_BATCH_SIZE: "3" };
    const { local, remote } = await startPair({
      ...{ backend: { ...SQLITE_FILE, makeUrl }, env: pages, remoteEnv: pages },
    });
    const [source, target] = direction === "pull" ? [remote, local] : [local, remote];
    const records = Array.from({ length: 20 }, (_, n) => ({
      ...{ shop: "s", sku: `k${n}` },
      updated_at: `2024-01-01T00:0${n % 5}:${10 + n}Z`,
    }));
    await source.push("listings", { records });
    const url = urls[source === remote ? 0 : 1] ?? "";
    const file = new Database(url.replace("sqlite:", ""));
    for (const [n, [text]] of TEXTS.entries()) {
      file.run("INSERT INTO listings (shop, sku, updated_at) VALUES ('s', ?, ?)", [`t${n}`, text]);
    }
    file.close();
    expect((await local.trigger({ direction, table: "listings" })).json).toMatchObject({
      status: "success",
      error_count: 0,
    });
    const rows = await target.rows("listings");
    expect(rows.length).toBe(25);
    expect(rows).toEqual(await source.rows("listings"));
    const times = new Map(rows.map((row) => [row["sku"], row["updated_at"]]));
    expect(TEXTS.map((_, n) => times.get(`t${n}`))).toEqual(TEXTS.map(([, shown]) => shown));
    const again = (await local.trigger({ direction, table: "listings" })).json;
    expect(again).toMatchObject({ status: "success", changed: 0 });
  });
}

/** Writes a row as another program may: in forms of its own. Resolves to how the row stands. */
async function writeElsewhere(url: string): Promise<() => Promise<unknown>> {
  if (url.startsWith("sqlite:")) {
    const file = new Database(url.slice("sqlite:".length));
    keepResource(() => file.close());
    file.run(
      `INSERT INTO shelves VALUES ('a', '2024-01-01 10:00:00', '2024-01-01T12:00:00+02:00', '{ "n": 1 }')`,
    );
    const look = file.query("SELECT made_at, updated_at, extra FROM shelves");
    return async () => look.all();
  }
  if (isPostgres(url)) {
    const sql = connectSql(url);
    await sql`insert into shelves values ('a', '2024-01-01 10:00:00Z', '2024-01-01 10:00:00Z', '{ "n": 1 }')`;
    return async () => await sql`select ctid::text, xmin::text, extra::text from shelves`.values();
  }
  const client = new MongoClient(url);
  keepResource(() => client.close());
  const at = new Date("2024-01-01T10:00:00Z");
  const shelves = client.db().collection("shelves");
  await shelves.insertOne({ name: "a", made_at: at, updated_at: at, extra: { n: 1 } });
  return async () => await shelves.find().toArray();
}

const SHELVES: TableEntry = {
  timestamp_column: "updated_at",
  upsert_key: ["name"],
  columns: {
    name: { type: "text" },
    made_at: { type: "datetime" },
    updated_at: { type: "datetime" },
    extra: { type: "json" },
  },
};

onEveryBackend("rows in forms of another program", (backend) => {
  test("D-4.7 a row that comes back as it is stays in the form in which another program wrote it", async () => {
    const shelves = SHELVES;
    const url = await backend.makeUrl();
    const makeUrl = async () => url;
    const remote = await startRunApp({ tables: { shelves } });
    const local = await startRunApp({
      ...{ backend: { ...backend, makeUrl }, tables: { shelves } },
      env: { SYNC_REMOTE_URL: remote.url },
    });
    const look = await writeElsewhere(url);
    const before = await look();
    const run = { table: "shelves", full: true };
    expect((await local.trigger(run)).json).toMatchObject({ total_pulled: 1, changed: 1 });
    expect((await local.trigger(run)).json).toMatchObject({ total_pulled: 1, changed: 0 });
    expect(await look()).toEqual(before);
    expect(await remote.rows("shelves")).toEqual([
      {
        name: "a",
        made_at: "2024-01-01T10:00:00Z",
        updated_at: "2024-01-01T10:00:00Z",
        extra: { n: 1 },
      },
    ]);
  });

  test.each<[rules: string, options: Partial<TableEntry>]>([
    ["overwrites", {}],
    ["has the guard", { conflict: "newer" }],
    ["is stamped", { stamped: true }],
  ])(
    "D-14.7.1 an import into a table that %s counts such a row as its dry run does",
    async (_, options) => {
      const url = await backend.makeUrl();
      const tables = { shelves: { ...SHELVES, ...options } };
      const app = await startRunApp({ backend: { ...backend, makeUrl: async () => url }, tables });
      await writeElsewhere(url);
      const time = "2024-01-01T10:00:00Z";
      const file = fileOf(
        JSON.stringify([
          { name: "a", made_at: time, updated_at: time, extra: { n: 1 } },
          { name: "b", made_at: time, updated_at: time, extra: null },
          { name: "a", made_at: time, updated_at: time, extra: { n: 1 } },
        ]),
        "application/json",
      );
      for (const query of ["?dry_run=true", ""]) {
        const told = resultOf(await app.ask(`/import/shelves${query}`, file));
        expect([query, told]).toMatchObject([query, { read: 3, new: 1, changed: 0, same: 2 }]);
      }
    },
  );
});

onBackends([MONGODB], "a document of an application", (backend) => {
  test("D-4.7 a run that changes some of its columns leaves the others in their BSON types, and adds no fields", async () => {
    const url = await backend.makeUrl();
    const { made_at: _, ...others } = SHELVES.columns;
    const text = { type: "text" } as const;
    const columns = { ...others, owner: text, price: { type: "numeric" }, note: text, more: text };
    const tables: Record<string, TableEntry> = { shelves: { ...SHELVES, columns } as TableEntry };
    const remote = await startRunApp({ tables });
    const local = await startRunApp({
      tables,
      env: { STORAGE_URL: url, SYNC_REMOTE_URL: remote.url },
    });
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const shelves = client.db().collection("shelves");
    const owner = new ObjectId();
    const own = { name: "a", owner, price: Decimal128.fromString("1.50"), extra: { tags: [1] } };
    await shelves.insertOne({ ...own, note: "old", updated_at: new Date("2024-01-01T10:00:00Z") });
    expect((await local.trigger()).json["status"]).toBe("success");
    const [row = {}] = await remote.rows("shelves");
    const changed = { note: "new", updated_at: "2024-01-02T10:00:00Z" };
    await remote.push("shelves", { records: [{ ...row, ...changed }] });
    expect((await local.trigger()).json["status"]).toBe("success");
    const { _id, ...now } = (await shelves.findOne()) ?? {};
    expect(now).toEqual({ ...own, note: "new", updated_at: "2024-01-02T10:00:00" });
    expect(await local.rows("shelves")).toEqual([...(await remote.rows("shelves"))]);
  });
});

onBackends([SQLITE_FILE, POSTGRESQL], "a column that an application renames", (backend) => {
  test("D-7.3 while it is missing, no row of the table is told, and a run writes nothing at the other end", async () => {
    const url = await backend.makeUrl();
    const tables = { shelves: SHELVES };
    const remote = await startRunApp({ tables, backend });
    const env = { STORAGE_URL: url, SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ tables, env });
    const time = "2024-01-01T10:00:00Z";
    const row = { name: "a", made_at: time, updated_at: time, extra: { n: 1 } };
    await local.push("shelves", { records: [row] });
    const sql = connectSql(url);
    await sql.unsafe("alter table shelves rename column extra to more");
    expect((await local.pull("shelves")).status).toBe(503);
    const { status, json } = await local.trigger({ table: "shelves", direction: "push" });
    expect([status, json["error"]]).toEqual([500, expect.any(String)]);
    expect(await remote.rows("shelves")).toEqual([]);
  });
});

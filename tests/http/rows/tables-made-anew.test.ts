// Tables that another program makes anew while a service goes on serving. D-14.6.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import type { ColumnEntry, TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { keepResource } from "../../support/resources.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { jsonBody, lookUp, Person } from "../reputation/people.ts";
import { isPostgres } from "../stores/support/raw-store.ts";
import { connectSql, MONGODB, onBackends, POSTGRESQL, SQLITE_FILE } from "../support/backends.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import { SYNC_KEY } from "../support/sync-app.ts";
import { startPair, startRunApp } from "../sync-runs/support/run-apps.ts";

const VERSIONS: TableEntry = {
  ...{ upsert_key: ["name"], timestamp_column: "at", stamped: true },
  columns: { name: { type: "text" }, at: { type: "datetime" } },
};
const ITEMS: TableEntry = {
  upsert_key: ["name"],
  columns: { name: { type: "text" }, price: { type: "numeric" } },
};
const STOPPED =
  'Table "items": column "price" is missing in the database, where another program renamed or dropped it: bring it back, or let the registry follow';

onBackends([SQLITE_FILE, POSTGRESQL], "a table that a migration makes anew", (backend) => {
  test("D-14.6, D-14.2.3 is prepared anew, and goes on being stamped; one that is missing is not made", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const tables = { versions: VERSIONS };
    const app = await startRunApp({ tables, env: { STORAGE_URL } });
    const sql = connectSql(STORAGE_URL);
    const [made, text, time] = isPostgres(STORAGE_URL)
      ? ["public.versions_new", 'text collate "C"', "timestamptz"]
      : ["versions_new", "text", "text"];
    await sql.unsafe("insert into versions (name) values ('before')");
    await sql.unsafe(`create table ${made} (name ${text} not null, at ${time});
      insert into ${made} select name, at from versions; drop table versions`);
    await app.lookAtRegistry();
    await sql.unsafe(`alter table ${made} rename to versions`);
    const edit = jsonBody({ row: { name: "early" }, expected: null });
    expect((await app.ask("/rows/versions", { ...edit, method: "PUT" })).status).toBe(500);
    await app.lookAtRegistry();
    await sql.unsafe("insert into versions (name) values ('after')");
    const stamp = isPostgres(STORAGE_URL)
      ? "repsync_stamp on versions"
      : '"repsync_stamp.insert.versions"';
    await sql.unsafe(`drop trigger ${stamp}`);
    await app.lookAtRegistry();
    await sql.unsafe("insert into versions (name) values ('late')");
    const rows = await app.rows("versions");
    expect(rows).toEqual(
      ["after", "before", "late"].map((name) => ({ name, at: expect.any(String) })),
    );
    const pushed = await app.push("versions", { records: [{ name: "before" }] });
    expect(pushed.json).toMatchObject({ upserted: 1 });
  });

  test("D-14.6 a table whose column was renamed is not used until the column is back, or the registry follows", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const file = join(makeTempFolder(), "tables.json");
    const write = (items: TableEntry) =>
      writeFileSync(file, JSON.stringify({ tables: { items, versions: VERSIONS } }));
    write(ITEMS);
    const env = { STORAGE_URL, SYNC_TABLES: file };
    const app = await startRunApp({ env });
    const sql = connectSql(STORAGE_URL);
    await app.push("items", { records: [{ name: "a", price: "1.50" }] });
    await sql.unsafe("drop table versions");
    await sql.unsafe("alter table items rename column price to cost");
    const edit = { row: { name: "b", price: "2" }, expected: null };
    await app.lookAtRegistry();
    const import_ = { method: "POST", headers: { "Content-Type": "text/csv" }, body: "name\nb\n" };
    for (const reply of [
      await app.pull("items"),
      await app.push("items", { records: [{ name: "b" }] }),
      await app.ask("/rows/items"),
      await app.ask("/rows/items", { ...jsonBody(edit), method: "PUT" }),
      await app.ask("/import/items", import_),
      await app.ask("/export/items"),
    ]) {
      expect([reply.status, reply.json["error"]]).toEqual([400, expect.stringContaining(STOPPED)]);
    }
    expect((await app.ask("/overview")).json["registry_problem"]).toContain(STOPPED);
    await expect(startRunApp({ env })).rejects.toThrow(STOPPED);
    await sql.unsafe("alter table items rename column cost to price");
    await app.lookAtRegistry();
    expect(await app.records("items")).toEqual([{ name: "a", price: "1.50" }]);
    expect((await app.ask("/overview")).json["registry_problem"]).toBeNull();
    await sql.unsafe("alter table items rename column price to cost");
    await app.lookAtRegistry();
    write({ ...ITEMS, columns: { name: { type: "text" }, cost: { type: "numeric" } } });
    await app.lookAtRegistry();
    expect(await app.records("items")).toEqual([{ name: "a", cost: "1.50" }]);
    write({ ...ITEMS, columns: { name: { type: "text" }, cost: { type: "boolean" } } });
    await app.lookAtRegistry();
    expect((await app.pull("items")).status).toBe(200);
    await sql.unsafe("alter table items rename column cost to price");
    await app.lookAtRegistry();
    expect((await app.pull("items")).json["error"]).toContain('column "cost" is missing');
    await sql.unsafe("alter table items rename column price to cost");
    writeFileSync(file, "{");
    await app.lookAtRegistry();
    expect((await app.pull("items")).status).toBe(200);
  });

  test("D-14.6 the registry may follow a column of another type in a table of the application, and one more that may not be null", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const sql = connectSql(STORAGE_URL);
    const [made, text] = isPostgres(STORAGE_URL)
      ? ["public.others", 'text collate "C"']
      : ["others", "text"];
    await sql.unsafe(`create table ${made} (name ${text} not null primary key, price text)`);
    const file = join(makeTempFolder(), "tables.json");
    const write = (price: ColumnEntry, more: TableEntry["columns"] = {}) => {
      const others = { ...ITEMS, columns: { ...ITEMS.columns, price } };
      const items = { ...ITEMS, columns: { ...ITEMS.columns, ...more } };
      writeFileSync(file, JSON.stringify({ tables: { others, items } }));
    };
    write({ type: "text" });
    const app = await startRunApp({ env: { STORAGE_URL, SYNC_TABLES: file } });
    const records = [{ name: "a", price: "1" }];
    for (const name of ["others", "items"]) await app.push(name, { records });
    await sql.unsafe("alter table items add column code text not null default 'x'");
    await sql.unsafe(
      isPostgres(STORAGE_URL)
        ? "alter table others alter column price type int8 using price::int8"
        : `create table others_new (name text not null primary key, price integer);
          insert into others_new select name, price from others; drop table others; alter table others_new rename to others`,
    );
    await app.lookAtRegistry();
    expect((await app.pull("others")).status).toBe(400);
    write({ type: "integer" }, { code: { type: "text", nullable: false } });
    await app.lookAtRegistry();
    expect((await app.ask("/overview")).json["registry_problem"]).toBeNull();
    expect(await app.records("others")).toEqual([{ name: "a", price: 1 }]);
    expect(await app.records("items")).toEqual([{ ...records[0], code: "x" }]);
  });

  test("D-14.6 an empty one is left as another program makes it", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const app = await startRunApp({ tables: { items: ITEMS }, env: { STORAGE_URL } });
    const sql = connectSql(STORAGE_URL);
    await sql.unsafe("alter table items rename column price to cost");
    await app.lookAtRegistry();
    const added = { ...jsonBody({ entry: VERSIONS }), method: "PUT" };
    expect((await app.ask("/tables/versions", added)).status).toBe(201);
    await sql.unsafe("insert into items (name, cost) values ('a', '1.50')");
    await app.lookAtRegistry();
    expect((await app.pull("items")).json["error"]).toContain(STOPPED);
  });

  test("D-14.6 a table that cannot be prepared keeps no other from it, and stays unused at each look", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const tables = { items: ITEMS, versions: VERSIONS };
    const app = await startRunApp({ tables, env: { STORAGE_URL } });
    const sql = connectSql(STORAGE_URL);
    await app.push("items", { records: [{ name: "a", price: "1.50" }] });
    await app.push("versions", { records: [{ name: "v" }] });
    const made = isPostgres(STORAGE_URL)
      ? 'public.versions (name text collate "C" not null, at timestamptz)'
      : "versions (name text not null, at text)";
    await sql.unsafe("alter table items rename column price to cost");
    await sql.unsafe(`drop table versions; create table ${made}`);
    for (let i = 0; i < 3; i++) {
      await app.lookAtRegistry();
      const added = { ...jsonBody({ entry: ITEMS }), method: "PUT" };
      expect((await app.ask(`/tables/more${i}`, added)).status).toBe(201);
      const pushed = await app.push("versions", { records: [{ name: `v${i}` }] });
      expect([pushed.status, pushed.json["upserted"]]).toEqual([200, 1]);
      const refused = await app.push("items", { records: [{ name: "b" }] });
      expect([refused.status, refused.json["error"]]).toEqual([
        400,
        expect.stringContaining(STOPPED),
      ]);
      expect((await app.ask("/overview")).json["registry_problem"]).toContain(STOPPED);
    }
    await sql.unsafe("alter table items rename column cost to price");
    await app.lookAtRegistry();
    expect(await app.records("items")).toEqual([{ name: "a", price: "1.50" }]);
  });

  test("D-14.6 a table with a column of another type is not used, and a run goes on with the others", async () => {
    const remote = await backend.makeUrl();
    const tables = { items: ITEMS, versions: VERSIONS };
    const pair = await startPair({ backend, tables, remoteEnv: { STORAGE_URL: remote } });
    const records = [{ name: "a", price: "1.55" }];
    await pair.remote.push("items", { records });
    await pair.remote.push("versions", { records: [{ name: "v" }] });
    const sql = connectSql(remote);
    await sql.unsafe(
      isPostgres(remote)
        ? "alter table items alter column price type numeric(6,1)"
        : "alter table items drop column price; alter table items add column price numeric",
    );
    await pair.remote.lookAtRegistry();
    const pushed = await pair.remote.push("items", { records: [{ name: "b", price: "2.00" }] });
    expect(pushed.status).toBe(400);
    expect(pushed.json["error"]).toContain('Table "items": column "price" is ');
    const run = await pair.local.trigger({ direction: "pull" });
    expect(run.json["error"]).toContain('Table "items": column "price" is ');
    expect(await pair.local.rows("versions")).toHaveLength(1);
  });

  test("D-14.6, D-14.9 the overview is there while a table that was run is not used, or gone", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const entry = {
      ...VERSIONS,
      columns: { ...VERSIONS.columns, body: { type: "text" } },
    } as const;
    const { local } = await startPair({ backend, tables: { entry }, env: { STORAGE_URL } });
    await local.push("entry", { records: [{ name: "a" }] });
    expect((await local.trigger({ direction: "both" })).status).toBe(200);
    const sql = connectSql(STORAGE_URL);
    await sql.unsafe("alter table entry rename column body to text");
    await local.lookAtRegistry();
    const { status, json } = await local.ask("/overview");
    expect([status, json["registry_problem"]]).toEqual([
      200,
      expect.stringContaining('column "body" is missing'),
    ]);
    await sql.unsafe("drop table entry");
    await local.lookAtRegistry();
    expect((await local.ask("/overview")).json["tables"]).toContainEqual(
      expect.objectContaining({ table: "entry", rows_here: null, behind_seconds: null }),
    );
  });
});

onBackends(
  [SQLITE_FILE, POSTGRESQL],
  "a table of people that another program changes",
  (backend) => {
    test("D-14.6, D-5.2 lookups of it answer 503 until it is as it was prepared", async () => {
      const STORAGE_URL = await backend.makeUrl();
      const app = await startRunApp({ env: { STORAGE_URL } });
      const key = await (await Person.signUp(app, "ana")).issueKey();
      const cleo = await Person.signUp(app, "cleo");
      const sql = connectSql(STORAGE_URL);
      await sql.unsafe("alter table profiles rename column bio to about");
      await app.lookAtRegistry();
      const { status, json } = await lookUp(app, key, { username: "ben" });
      const detail = "The table profiles is not as it was prepared";
      expect([status, json["detail"]]).toEqual([503, detail]);
      const erase = () => cleo.send("/v1/me", { method: "DELETE" });
      expect((await erase()).status).toBe(503);
      await sql.unsafe("alter table profiles rename column about to bio");
      await app.lookAtRegistry();
      expect((await lookUp(app, key, { username: "ben" })).status).toBe(404);
      expect((await erase()).status).toBe(200);
      expect(await sql`select username from profiles where username = 'cleo'`).toHaveLength(0);
    });
  },
);

onBackends([SQLITE_FILE, POSTGRESQL], "a view in the place of a table", (backend) => {
  test("D-14.6 is not used, and a start refuses it", async () => {
    const options = { tables: { items: ITEMS }, env: { STORAGE_URL: await backend.makeUrl() } };
    const app = await startRunApp(options);
    await app.push("items", { records: [{ name: "a", price: "1.5" }] });
    const sql = connectSql(options.env.STORAGE_URL);
    const view = isPostgres(options.env.STORAGE_URL) ? "public.items" : "items";
    await sql.unsafe(
      `alter table items rename to former; create view ${view} as select * from former`,
    );
    await app.lookAtRegistry();
    const pulled = await app.pull("items");
    const text = "its name belongs to a view in the database";
    expect([pulled.status, pulled.json["error"]]).toEqual([400, expect.stringContaining(text)]);
    await expect(startRunApp(options)).rejects.toThrow(text);
  });
});

onBackends([SQLITE_FILE], "a column that a migration lets the database compute", (backend) => {
  test("D-14.6, D-7.10 stops its table", async () => {
    const options = { tables: { items: ITEMS }, env: { STORAGE_URL: await backend.makeUrl() } };
    const app = await startRunApp(options);
    await app.push("items", { records: [{ name: "a", price: "1.5" }] });
    const sql = connectSql(options.env.STORAGE_URL);
    await sql.unsafe("alter table items drop column price");
    await sql.unsafe("alter table items add column price text as ('1')");
    await app.lookAtRegistry();
    const pushed = await app.push("items", { records: [{ name: "b", price: "2" }] });
    const text = 'column "price" is generated by the database, so nobody can write it';
    expect([pushed.status, pushed.json["error"]]).toEqual([400, expect.stringContaining(text)]);
  });
});

onBackends([MONGODB], "a collection in the place of a table", (backend) => {
  test("D-14.6 is prepared anew, with its deletes; a view there is not used", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const { stamped: _, ...entry } = VERSIONS;
    const tables = { versions: { ...entry, deletes: true } };
    const app = await startRunApp({ tables, env: { STORAGE_URL } });
    const client = new MongoClient(STORAGE_URL);
    keepResource(() => client.close());
    const db = client.db();
    const records = ["a", "b"].map((name) => ({ name, at: "2026-01-01T00:00:00Z" }));
    await app.push("versions", { records });
    await db.collection("versions").rename("former");
    await db.collection("versions").insertMany(await db.collection("former").find().toArray());
    await app.lookAtRegistry();
    expect(await app.rows("versions")).toEqual(records);
    const twin = { name: "a", at: "2026-01-01T00:00:00" };
    await expect(db.collection("versions").insertOne(twin)).rejects.toThrow("duplicate key");
    await db.collection("versions").deleteOne({ name: "a" });
    const headers = { "X-Sync-Key": SYNC_KEY };
    await pollUntil("tombstone", async () => {
      const { text } = await app.send("/api/v1/sync/deleted/versions", { headers });
      return text.includes('"key":{"name":"a"}');
    });
    await db.collection("versions").rename("other");
    await db.createCollection("versions", { viewOn: "other", pipeline: [] });
    await app.lookAtRegistry();
    const pushed = await app.push("versions", { records });
    expect([pushed.status, pushed.json["error"]]).toEqual([
      400,
      expect.stringContaining("its name belongs to a view"),
    ]);
  });
});

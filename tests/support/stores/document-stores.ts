// Every kind of store of documents, for the port's suite and for the repositories'.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Db, Long, MongoClient, ObjectId, type UpdateFilter } from "mongodb";
import { MongoDocuments } from "../../../src/adapters/mongodb/documents/mongo-documents.ts";
import { PrimaryWatch } from "../../../src/adapters/mongodb/driver/operations.ts";
import { Versions } from "../../../src/adapters/mongodb/driver/versions.ts";
import { openPostgresStorage } from "../../../src/adapters/postgres/storage.ts";
import { SqliteDocuments } from "../../../src/adapters/sqlite/documents/sqlite-documents.ts";
import { openBunSqlite } from "../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteDatabase } from "../../../src/adapters/sqlite/driver/database.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import type { Key } from "../../../src/domain/shared/document-key.ts";
import { REQUEST_CALLS } from "../../../src/ports/documents.ts";
import { keyBytes } from "../../../src/ports/stored-documents.ts";
import { makeDatabase } from "../../adapters/mongodb/support.ts";
import { makeDatabase as makePostgres } from "../../adapters/postgres/support.ts";
import type { OpenedDocuments } from "../../contract/documents/documents-harness.ts";
import { MemoryDocuments } from "../memory/documents.ts";
import { FakeClock } from "../time/fake-clock.ts";

export async function openSqliteFile(clock = new FakeClock()): Promise<OpenedDocuments> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-documents-"));
  const databases: SqliteDatabase[] = [];
  const open = async () => {
    const database = await SqliteDatabase.open(openBunSqlite, join(folder, "a.db"), { clock });
    databases.push(database);
    return database;
  };
  const first = await open();
  return {
    documents: new SqliteDocuments(first),
    nowMs: () => clock.nowMs(),
    openSecond: async () => new SqliteDocuments(await open()),
    damage: async ({ name }, key) => {
      const sql = `UPDATE repsync_${name} SET doc = '{"key": ["another"]}' WHERE doc LIKE ?`;
      await first.write(() => first.run(sql, [`%${JSON.stringify(key)}%`]));
    },
    damages: [
      "doc = doc || ' '",
      "doc = replace(doc, '{', '{\"value\":0,')",
      "doc = CAST(doc AS BLOB)",
      "doc = CAST(CAST(substr(doc, 1, 10) AS BLOB) || x'ff' || substr(doc, 11) AS TEXT)",
      "doc = 'no JSON'",
      "doc = 'null'",
      "at_place = x'00'",
    ].map((change) => async ({ name }, key) => {
      const sql = `UPDATE repsync_${name} SET ${change} WHERE doc LIKE ?`;
      await first.write(() => first.run(sql, [`%${JSON.stringify(key)}%`]));
    }),
    spoil: async ({ name }, key, field) => {
      const doc = `CASE WHEN instr(doc, ?1) THEN replace(doc, ?1, ?1 || ' ') ELSE ?1 || doc END`;
      const sql = `UPDATE repsync_${name} SET doc = ${doc} WHERE key = ?2`;
      await first.write(() => first.run(sql, [`${JSON.stringify(field)}:`, keyBytes(key)]));
    },
    addStrange: async ({ name }) => {
      const keys = ["1", "'text'", "x'02'", "x'ff'"];
      const values = keys.map((key) => `(${key}, '{}')`).join(", ");
      const sql = `INSERT INTO repsync_${name} (key, doc) VALUES ${values}`;
      await first.write(() => first.run(sql));
      return keys.length;
    },
    dispose: async () => {
      for (const database of databases) await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function openSqliteMemory(): Promise<OpenedDocuments> {
  const clock = new FakeClock();
  const database = await SqliteDatabase.open(openBunSqlite, ":memory:", { clock });
  return {
    documents: new SqliteDocuments(database),
    nowMs: () => clock.nowMs(),
    dispose: () => database.close(),
  };
}

/** What another program may do to a document. */
const MONGO_CHANGES: readonly object[] = [
  { $set: { value: Long.fromNumber(5) } },
  { $set: { value: new Date(0) } },
  { $set: { value: Buffer.from("5") } },
  { $set: { "_at.place": { 0: "elsewhere" } } },
  { $unset: { key: 1 } },
];

/** Without a clock the time is the server's. */
export async function openMongo(storeClock: FakeClock | null = null): Promise<
  Omit<OpenedDocuments, "openSecond"> & {
    readonly db: Db;
    readonly documents: MongoDocuments;
    openSecond(): Promise<MongoDocuments>;
  }
> {
  const { db, url, dispose } = await makeDatabase();
  const clients: MongoClient[] = [];
  const openInstance = async () => {
    const client = new MongoClient(url, { writeConcern: { w: "majority" } });
    clients.push(client);
    const own = client.db();
    const clock = new SystemClock();
    const deps = {
      client,
      db: own,
      clock,
      primaryWatch: new PrimaryWatch(client, own),
      storeClock,
      callLimit: REQUEST_CALLS,
      versions: new Versions(own),
    };
    return new MongoDocuments(deps);
  };
  return {
    db,
    documents: await openInstance(),
    nowMs: () => storeClock?.nowMs() ?? Date.now(),
    openSecond: openInstance,
    damage: async ({ name }, key) => {
      const _id = Object.fromEntries(key.entries());
      const stored = db.collection<{ _id: object }>(`repsync_${name}`);
      await stored.updateOne({ _id }, { $set: { key: ["another"] } });
    },
    damages: MONGO_CHANGES.map((change) => async ({ name }, key) => {
      const _id = Object.fromEntries(key.entries());
      const stored = db.collection<{ _id: object }>(`repsync_${name}`);
      await stored.updateOne({ _id }, change as UpdateFilter<{ _id: object }>);
    }),
    spoil: async ({ name }, key, field) => {
      const _id = Object.fromEntries(key.entries());
      const isNumber = { $isNumber: `$${field}` };
      const spoilt = { $cond: [isNumber, { $toLong: `$${field}` }, new Date(0)] };
      await db
        .collection<{ _id: object }>(`repsync_${name}`)
        .updateOne({ _id }, [{ $set: { [field]: spoilt } }]);
    },
    addStrange: async ({ name }) => {
      const keys = [null, 1, "text", new ObjectId(), true, { a: 1 }, {}];
      const stored = db.collection<{ _id: unknown }>(`repsync_${name}`);
      await stored.insertMany(keys.map((_id) => ({ _id })));
      return keys.length;
    },
    dispose: async () => {
      for (const client of clients) await client.close();
      await dispose();
    },
  };
}

/** Instances share it, as processes share a database. */
export async function openMemory(clock = new FakeClock()): Promise<OpenedDocuments> {
  const documents = new MemoryDocuments(clock);
  return {
    documents,
    nowMs: () => clock.nowMs(),
    dispose: async () => {},
  };
}

/** What another program may do to a document; `$1` is its key. */
const POSTGRES_CHANGES = [
  "doc = (doc::text || ' ')::json",
  "doc = replace(doc::text, '{', '{\"value\":0,')::json",
  "doc = '5'",
  "doc = 'null'",
  "at_place = '\\x00'",
];

export async function openPostgres(storeClock?: FakeClock): Promise<OpenedDocuments> {
  const { url, sql, dispose } = await makePostgres();
  const opened: { close(): Promise<void> }[] = [];
  const open = async () => {
    const storage = await openPostgresStorage({ url, clock: new SystemClock(), storeClock });
    opened.push(storage);
    return storage.documents;
  };
  const change = async (name: string, how: string, key: Key) => {
    const bytes = `\\x${Buffer.from(keyBytes(key)).toString("hex")}`;
    await sql.unsafe(`update repsync."${name}" set ${how} where key = $1::text::bytea`, [bytes]);
  };
  return {
    documents: await open(),
    nowMs: () => storeClock?.nowMs() ?? Date.now(),
    openSecond: open,
    damage: ({ name }, key) => change(name, `doc = '{"key": ["another"]}'`, key),
    damages: POSTGRES_CHANGES.map(
      (how) =>
        ({ name }, key) =>
          change(name, how, key),
    ),
    spoil: async ({ name }, key, field) => {
      const sign = `'${JSON.stringify(field)}:'`;
      const doc = `case when strpos(doc::text, ${sign}) > 0 then replace(doc::text, ${sign}, ${sign} || ' ') else '{' || ${sign} || '1,' || substr(doc::text, 2) end`;
      await change(name, `doc = (${doc})::json`, key);
    },
    addStrange: async ({ name }) => {
      const keys = ["\\x", "\\x0007", "\\x02", "\\xff"];
      const values = keys.map((key) => `('${key}', '{}')`).join(", ");
      await sql.unsafe(`insert into repsync."${name}" (key, doc) values ${values}`);
      return keys.length;
    },
    dispose: async () => {
      for (const storage of opened) await storage.close();
      await dispose();
    },
  };
}

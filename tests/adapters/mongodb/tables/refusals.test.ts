// Records and tables that MongoDB itself refuses.

import { describe, expect } from "bun:test";
import { type Db, Long } from "mongodb";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { isAppError } from "../../../../src/domain/shared/errors.ts";
import { asWrites, TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it, type TestDatabase } from "../support.ts";

const PEOPLE = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["name"],
    columns: {
      id: { type: "integer", auto_increment: true },
      name: { type: "text", nullable: false },
      email: { type: "text" },
      at: { type: "datetime" },
    },
  },
  "people",
);
const AT = "2024-01-01T00:00:00Z";
const DUPLICATE = "Another row has the same value in a unique index of the MongoDB collection";
const INVALID = "The row does not pass the validator of the MongoDB collection";
const TOO_LARGE = "The row is larger than the 16 MiB that MongoDB can store";
const MIB = 1024 * 1024;
const FOREIGN = ", which another program made, cannot be used";
const ADVICE =
  ". Leave it out of the registry, name a type or key there that it has, or give the table of the registry another name and import the rows into that";

const person = (name: string, email: string | null) => ({ name, email, at: AT });

describe.skipIf(!mongoAvailable)("MongoDB refusals", () => {
  it("S-4.2.10 a unique index of the operator fails the records that break it, and no others", async (database) => {
    const storage = await database.open();
    const people = await TableUnderTest.prepare(storage, PEOPLE);
    await people.write(person("taken", "0@x"));
    await database.db.collection("people").createIndex({ email: 1 }, { unique: true });
    const rows = Array.from({ length: 200 }, (_, n) =>
      person(`p${n}`, n % 50 === 7 ? "0@x" : `${n}@y`),
    );
    expect((await writeTo(storage, PEOPLE, asWrites(rows))).failures).toEqual([
      { index: 7, message: DUPLICATE },
      { index: 57, message: DUPLICATE },
      { index: 107, message: DUPLICATE },
      { index: 157, message: DUPLICATE },
    ]);
    expect(await people.count()).toBe(197);
    const ids = (await people.column("id")).toSorted((a, b) => Number(a) - Number(b));
    expect(ids).toEqual(Array.from({ length: 197 }, (_, n) => n + 1));
  });

  it("S-4.2.10 of two records that exclude one another one is written", async (database) => {
    const storage = await database.open();
    const people = await TableUnderTest.prepare(storage, PEOPLE);
    await database.db.collection("people").createIndex({ email: 1 }, { unique: true });
    const rows = [person("a", "1@x"), person("b", "1@x"), person("c", "2@x"), person("d", "1@x")];
    const { failures } = await writeTo(storage, PEOPLE, asWrites(rows));
    expect(failures.map(({ message }) => message)).toEqual([DUPLICATE, DUPLICATE]);
    expect((await people.column("email")).toSorted()).toEqual(["1@x", "2@x"]);
  });

  it("S-4.2.10 a validator of the operator fails the records that break it, updates too", async (database) => {
    const storage = await database.open();
    const people = await TableUnderTest.prepare(storage, PEOPLE);
    await people.write(person("a", "1@x"), person("b", "2@x"));
    await database.db.command({ collMod: "people", validator: { email: { $type: "string" } } });
    const rows = [person("c", null), person("a", null), person("b", "3@x"), person("d", "4@x")];
    expect((await writeTo(storage, PEOPLE, asWrites(rows))).failures).toEqual([
      { index: 0, message: INVALID },
      { index: 1, message: INVALID },
    ]);
    expect(await people.column("email")).toEqual(["1@x", "3@x", "4@x"]);
  });

  it("S-4.2.10 a guard keeps records that would be refused, and the others fail alone", async (database) => {
    const storage = await database.open();
    const people = await TableUnderTest.prepare(storage, PEOPLE);
    await people.write(person("a", "1@x"), { name: "b", email: "2@x", at: "2024-02-01T00:00:00Z" });
    await database.db.command({ collMod: "people", validator: { email: { $type: "string" } } });
    const rows = [person("c", null), person("a", null), person("b", null), person("d", "4@x")];
    expect(await people.writeWith({ conflict: "newer" }, ...rows)).toEqual({
      failures: [
        { index: 0, message: INVALID },
        { index: 1, message: INVALID },
      ],
      kept: [2],
      changed: 1,
      deleted: 0,
    });
    expect((await people.column("email")).toSorted()).toEqual(["1@x", "2@x", "4@x"]);
  });

  it("S-4.2.10 every record may fail", async (database) => {
    const storage = await database.open();
    const people = await TableUnderTest.prepare(storage, PEOPLE);
    await database.db.command({ collMod: "people", validator: { email: "nobody" } });
    const rows = Array.from({ length: 60 }, (_, n) => person(`p${n}`, "x"));
    const { failures } = await writeTo(storage, PEOPLE, asWrites(rows));
    expect(failures.map(({ index }) => index)).toEqual(rows.map((_, n) => n));
    expect(await people.count()).toBe(0);
  });

  it("S-4.2.10 a record larger than a document may be fails, one just below is written", async (database) => {
    const storage = await database.open();
    const people = await TableUnderTest.prepare(storage, PEOPLE);
    const long = "x".repeat(16 * MIB - 4096);
    const rows = [
      person("a", "y".repeat(16 * MIB)),
      person("b", long),
      person("c", "é".repeat(8 * MIB)),
    ];
    expect((await writeTo(storage, PEOPLE, asWrites(rows))).failures).toEqual([
      { index: 0, message: TOO_LARGE },
      { index: 2, message: TOO_LARGE },
    ]);
    await people.write(person("d", "é".repeat(4 * MIB)));
    const emails = await people.column("email");
    expect(emails.map((email) => String(email).length)).toEqual([16 * MIB - 4096, 4 * MIB]);
    expect(emails[0]).toBe(long);
  });

  it("S-4.2.10 a record that makes a stored row too large fails alone", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([PEOPLE]);
    await database.db.collection("people").insertOne({ name: "a", notes: "x".repeat(9 * MIB) });
    const rows = [person("a", "y".repeat(8 * MIB)), person("b", "z")];
    expect((await writeTo(storage, PEOPLE, asWrites(rows))).failures).toEqual([
      { index: 0, message: TOO_LARGE },
    ]);
  });

  it("D-2.4 prepare() takes over a collection that other programs filled", async (database) => {
    const documents = database.db.collection("people");
    await documents.insertMany([
      { name: "a", email: "1@x", at: "2024-01-02T00:00:00", id: 7 },
      { name: "b", email: "2@x", at: "2024-01-01T00:00:00", id: 3, other: true },
    ]);
    const people = await TableUnderTest.prepare(await database.open(), PEOPLE);
    await people.write(person("c", "3@x"), person("a", "4@x"));
    expect(await people.rows()).toEqual([
      { id: 7, name: "a", email: "4@x", at: AT },
      { id: 3, name: "b", email: "2@x", at: AT },
      { id: 8, name: "c", email: "3@x", at: AT },
    ]);
    expect(await documents.countDocuments({ other: true })).toBe(1);
    await documents.insertOne({ email: "later, without a name" });
    await TableUnderTest.prepare(await database.open(), PEOPLE);
  });

  it("D-2.4 numbers go on behind ids that came while the registry numbered nothing", async (database) => {
    const storage = await database.open();
    const columns = { id: { type: "integer" }, k: { type: "text" } } as const;
    const plain = makeTable({ upsert_key: ["k"], columns });
    const numbered = makeTable({
      upsert_key: ["k"],
      columns: { ...columns, id: { ...columns.id, auto_increment: true } },
    });
    await (await TableUnderTest.prepare(storage, numbered)).write({ k: "a" });
    await (await TableUnderTest.prepare(storage, plain)).write({ k: "b", id: 5 });
    await database.db.collection("items").insertOne({ k: "bb", id: Long.fromNumber(6) });
    const items = await TableUnderTest.prepare(storage, numbered);
    await items.write({ k: "c" });
    expect(await items.column("id")).toEqual([1, 5, 6, 7]);
  });

  it("D-2.4 prepare() gives the hidden order of a timestamp in the key to rows of other programs", async (database) => {
    const definition = makeTable({
      timestamp_column: "at",
      upsert_key: ["device", "at"],
      columns: { device: { type: "text" }, at: { type: "datetime" } },
    });
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, definition);
    await table.write({ device: "a", at: "2024-01-02T00:00:00Z" }, { device: "a", at: "soon" });
    await database.db.collection("items").insertOne({ device: "b", at: "2024-01-01T00:00:00" });
    await storage.tables.prepare([definition]);
    expect(await table.column("at", { sinceTime: AT })).toEqual([AT, "2024-01-02T00:00:00Z"]);
    expect(await table.column("at")).toEqual(["soon", AT, "2024-01-02T00:00:00Z"]);
  });

  it("D-7.10 prepare() refuses BSON dates in a key column of days, and says what to store", async (database) => {
    const columns = { day: { type: "date" }, v: { type: "integer" } } as const;
    const days = makeTable({ upsert_key: ["day"], columns }, "days");
    await database.db.collection("days").insertOne({ day: new Date("2024-05-01T00:00:00Z"), v: 1 });
    await database.db.collection("days").createIndex({ day: 1 }, { unique: true });
    const storage = await database.open();
    await expect(storage.tables.prepare([days])).rejects.toMatchObject({
      kind: "schema_conflict",
      message: `Table "days"${FOREIGN}: its key column "day" holds BSON dates: store texts like 2024-05-01${ADVICE}`,
    });
    await database.db.collection("days").updateOne({}, { $set: { day: "2024-05-01" } });
    await storage.tables.prepare([days]);
    const page = { sinceTime: null, offsetRows: 0, limitRows: 10 };
    expect((await readPage(storage.tables, days, page)).rows).toEqual([
      { day: "2024-05-01", v: 1 },
    ]);
  });

  it("D-2.4 prepare() refuses a collection whose documents or options do not fit", async (database) => {
    const { db } = database;
    const people = db.collection("people");
    await people.insertMany([person("a", null), person("a", null)]);
    await expectRefusal(
      database,
      'several rows have the same upsert key (name): remove all but one; its column "id" is missing in some rows, and nothing is numbered there',
      true,
    );
    await people.deleteMany({});
    await people.insertMany([{ email: "1@x" }]);
    await expectRefusal(
      database,
      'its column "name" may not be null but is in some rows: fill it in; its column "id" is missing in some rows, and nothing is numbered there',
      true,
    );
    await people.deleteMany({});
    await people.insertMany([{ name: new Date(0) }]);
    await expectRefusal(
      database,
      'its key column "name" holds BSON dates: store texts like 2024-05-01T10:00:00.123 (UTC, no zone); its column "id" is missing in some rows, and nothing is numbered there',
      true,
    );
    await people.deleteMany({});
    await people.createIndex({ name: 1 });
    await expectRefusal(
      database,
      "its index name_1 is not a plain unique index: drop it, it is then made anew",
    );
    await people.drop();
    await db.createCollection("people", { collation: { locale: "de" } });
    await expectRefusal(
      database,
      "its collection has a collation of its own: copy the documents into one without",
    );
    await people.drop();
    await db.createCollection("people", { viewOn: "others", pipeline: [] });
    await expectRefusal(
      database,
      "its name belongs to a view, time series or capped collection: rename that, or the table",
    );
    expect(await db.collection("repsync_tables").countDocuments()).toBe(0);
  });

  it("D-2.4 an order of many columns is made as long as MongoDB has an index for it", async (database) => {
    const storage = await database.open();
    const wide = (count: number, length: number) => {
      const names = Array.from({ length: count }, (_, n) => `c${n}`.padEnd(length, "x"));
      const key = Object.fromEntries(names.map((name) => [name, { type: "text" } as const]));
      return makeTable({
        timestamp_column: "at",
        upsert_key: names,
        columns: { ...key, at: { type: "datetime" } },
      });
    };
    const refusal = async (count: number, length: number) => {
      const preparing = storage.tables.prepare([wide(count, length)]);
      return await preparing.then(
        () => null,
        (error: Error) => error.message,
      );
    };
    expect(await refusal(32, 10)).toBe(
      'Table "items": its order has 33 columns, the timestamp and the upsert key, and MongoDB\'s indexes at most 32: shorten the key',
    );
    expect(await refusal(30, 63)).toBe(
      'Table "items": the names of the columns of its order, the timestamp and the upsert key, take 2083 bytes in an index of MongoDB, 2048 are allowed: shorten the names, or the key',
    );
    const table = wide(31, 58);
    const items = await TableUnderTest.prepare(storage, table);
    const row = Object.fromEntries(table.keyColumns.map(({ name }, n) => [name, `${n}`]));
    await items.write({ ...row, at: AT });
    await items.write({ ...row, at: AT });
    expect(await items.count()).toBe(1);
  });

  it("D-11.4.2 documents of another program are never written to: all that would need it is refused at once", async (database) => {
    const { db } = database;
    await db.collection("people").insertMany([
      { name: "a", id: 7 },
      { name: "b", at: null },
      { name: "b", email: "1@x" },
    ]);
    await db.collection("events").insertOne({ device: "a", at: "2024-01-01T00:00:00" });
    await db.createCollection("capped", { capped: true, size: 4096 });
    const events = makeTable(
      {
        timestamp_column: "at",
        upsert_key: ["device", "at"],
        columns: { device: { type: "text" }, at: { type: "datetime" } },
      },
      "events",
    );
    const capped = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "capped");
    const fresh = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "fresh");
    const before = await namesOf(db);
    const opening = openMongoStorage({
      url: database.url,
      clock: new SystemClock(),
      tables: [fresh, PEOPLE, events, capped],
    });
    await expect(opening).rejects.toMatchObject({
      kind: "schema_conflict",
      message:
        `Table "people"${FOREIGN}: several rows have the same upsert key (name): remove all but one; its column "id" is missing in some rows, and nothing is numbered there${ADVICE}\n` +
        `Table "events"${FOREIGN}: its timestamp column "at" is part of its upsert key, which takes a field more in every document${ADVICE}\n` +
        'Table "capped": its name belongs to a view, time series or capped collection: rename that, or the table',
    });
    expect(await namesOf(db)).toEqual(before);
    expect(await db.collection("people").indexes()).toHaveLength(1);
  });

  it("D-11.4.2 which collections another program had filled stands in the store", async (database) => {
    const { db } = database;
    await db.collection("people").insertOne({ name: "a", id: 7 });
    await db.createCollection("items");
    const items = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
    const storage = await database.open();
    await storage.tables.prepare([PEOPLE, items]);
    const definitions = db.collection<{ _id: string; is_foreign: boolean }>("repsync_tables");
    const kept = await definitions.find().sort({ _id: 1 }).toArray();
    expect(kept.map(({ _id, is_foreign }) => [_id, is_foreign])).toEqual([
      ["items", false],
      ["people", true],
    ]);
    const byTime = makeTable(
      {
        timestamp_column: "at",
        upsert_key: ["name", "at"],
        columns: { name: { type: "text" }, at: { type: "datetime" } },
      },
      "people",
    );
    const failure = await storage.tables.prepare([byTime]).catch((error: Error) => error.message);
    expect(failure).toStartWith(`Table "people"${FOREIGN}: its rows have the upsert key (name)`);
    expect(failure).toContain("is part of its upsert key, which takes a field more");
    const rows = await db.collection("people").find().project({ _id: 0 }).toArray();
    expect(rows).toEqual([{ name: "a", id: 7 }]);
  });

  it("D-2.4 a column that stops being the timestamp shows its unparsed texts, and takes part again", async (database) => {
    const storage = await database.open();
    const columns = {
      k: { type: "integer" },
      at: { type: "datetime" },
      day: { type: "date" },
    } as const;
    const by = (timestamp_column: string | null) =>
      makeTable({ timestamp_column, upsert_key: ["k"], columns });
    const rows = [
      { k: 1, at: "soon", day: "2024-01-02" },
      { k: 2, at: AT, day: "later" },
      { k: 3, at: null, day: null },
      { k: 4, at: 5, day: "2024-01-01" },
      { k: 5, at: "2024-01-02T00:00:00Z" as string | null, day: "2024-01-03" },
    ];
    await (await TableUnderTest.prepare(storage, by("at"))).write({ k: 5, at: "soon" }, ...rows);
    for (const [column, keys] of [
      ["at", [1, 3, 4, 2, 5]],
      ["day", [2, 3, 4, 1, 5]],
      [null, [1, 2, 3, 4, 5]],
      ["at", [1, 3, 4, 5, 2]],
    ] as const) {
      const table = await TableUnderTest.prepare(storage, by(column));
      expect(await table.rows()).toEqual(keys.map((k) => rows[k - 1] ?? {}));
      if (column !== null) continue;
      rows[4] = { k: 5, at: null, day: "2024-01-03" };
      await table.write(rows[4]);
    }
  });
});

async function namesOf(db: Db): Promise<string[]> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  return collections.map(({ name }) => name).toSorted();
}

/** Expects `prepare()` to refuse the table of people for one reason, and to change nothing. */
async function expectRefusal(
  { open }: TestDatabase,
  reason: string,
  isForeign = false,
): Promise<void> {
  const storage = await open();
  try {
    await storage.tables.prepare([PEOPLE]);
  } catch (error) {
    if (!isAppError(error, "schema_conflict")) throw error;
    const [whose, advice] = isForeign ? [FOREIGN, ADVICE] : ["", ""];
    expect(error.message).toBe(`Table "people"${whose}: ${reason}${advice}`);
    return;
  }
  throw new Error("prepare() did not refuse the table");
}

// What other programs keep in documents of tables goes back into MongoDB as it was.

import { expect, test } from "bun:test";
import {
  Binary,
  BSON,
  BSONRegExp,
  Decimal128,
  type Document,
  Double,
  Long,
  MongoClient,
  ObjectId,
} from "mongodb";
import { restOf } from "../../../../src/adapters/mongodb/copies/whole-documents.ts";
import { NodeMac } from "../../../../src/adapters/node-crypto/node-crypto.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { storeAt } from "../../../../src/app/stores.ts";
import { copyStore } from "../../../../src/usecases/operations/copy-store.ts";
import { MONGODB, POSTGRESQL, SQLITE_FILE } from "../../../http/support/backends.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { keepResource } from "../../../support/resources.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";

const TABLE = makeTable({
  upsert_key: ["name"],
  timestamp_column: "at",
  columns: {
    id: { type: "integer", auto_increment: true },
    name: { type: "text" },
    at: { type: "datetime" },
    price: { type: "real" },
  },
});
const oid = (n: number) => new ObjectId(n.toString(16).padStart(24, "0"));
/** As other programs write them: other ids, fields and types, and fields that are missing. */
const FOREIGN = [
  { _id: oid(1), name: "own", at: "2024-01-01T00:00:00", price: new Double(-0), id: Long.ONE },
  { _id: "text", name: "other", at: new Date(0), price: Decimal128.fromString("1.50") },
  { _id: oid(3), more: { a: [1, null] }, name: "more", bytes: new Binary(Buffer.from("é")) },
];

/** With the type of each value. */
function textOf(document: Document): string {
  const fields = Object.entries(document).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return BSON.EJSON.stringify(Object.fromEntries(fields), { relaxed: false });
}

const TOOLS = { clock: new SystemClock(), logger: new MemoryLogger() };

/** The documents of the table, as other programs see them. */
function itemsOf(url: string) {
  const client = new MongoClient(url);
  keepResource(() => client.close());
  return client.db().collection<{ _id: unknown }>("items");
}

/** A store with the table. */
async function prepared(): Promise<string> {
  const url = await MONGODB.makeUrl();
  const storage = await storeAt(url).open(TOOLS);
  await storage.tables.prepare([TABLE]);
  await storage.close();
  return url;
}

/** Moves a store into an empty one, which is given up where that fails. */
async function moveTo(to: string, from: string): Promise<void> {
  const source = await storeAt(from).openStopped(TOOLS);
  keepResource(async () => source.close());
  const options = { ...TOOLS, adminUsername: null, tables: ["items"], by: "move" } as const;
  const target = await storeAt(to).claim(options);
  try {
    await copyStore(source, { target, mac: new NodeMac() }, {});
    await target.finish("5f1e");
  } catch (error) {
    await target.giveUp();
    throw error;
  }
}

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 a copy has numbers that are none, as servers compute them, and options of expressions in any order",
  async () => {
    const [from, to] = [await prepared(), await MONGODB.makeUrl()];
    const pattern = new BSONRegExp("a", "ix");
    (pattern as { options: string }).options = "xi";
    await itemsOf(from).insertOne({ _id: oid(1), name: "a", pattern } as never);
    // Such a NaN has a sign, which no driver keeps.
    const computed = { $subtract: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] };
    await itemsOf(from).updateOne({}, [{ $set: { price: computed, more: { deep: computed } } }]);
    await moveTo(to, from);
    const [copied] = await itemsOf(to).find().toArray();
    expect(copied).toEqual({
      ...{ _id: oid(1), name: "a", pattern: /a/i },
      ...{ price: Number.NaN, more: { deep: Number.NaN } },
    } as never);
  },
);

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 a copy is refused that could not have every value, and names the rows; into a store of another kind they go",
  async () => {
    const from = await prepared();
    await itemsOf(from).insertMany([
      { _id: oid(1), name: "a", id: 1, price: new Double(-0) },
      { _id: oid(2), name: "b", id: 2 },
    ] as never);
    const endless = { $toDate: Long.MAX_VALUE };
    await itemsOf(from).updateOne({ name: "b" }, [{ $set: { more: { until: [endless] } } }]);
    const detail = expect.stringContaining('table "items", row ["b"]: its document has a value');
    const refusal = { kind: "conflict", problems: [{ detail }] };
    const to = await MONGODB.makeUrl();
    await expect(moveTo(to, from)).rejects.toMatchObject(refusal);
    expect(await itemsOf(to).countDocuments()).toBe(0);
    await moveTo(await SQLITE_FILE.makeUrl(), from);
  },
);

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 the copy of a table that another program made is known for one",
  async () => {
    const [from, to] = [await MONGODB.makeUrl(), await MONGODB.makeUrl()];
    const named = makeTable({ upsert_key: ["name"], columns: { name: { type: "text" } } });
    await itemsOf(from).insertOne({ _id: oid(1), name: "a" } as never);
    const storage = await storeAt(from).open(TOOLS);
    await storage.tables.prepare([named]);
    await storage.close();
    await moveTo(to, from);
    const source = await storeAt(to).openStopped(TOOLS);
    keepResource(async () => source.close());
    const { about } = await source.dump();
    expect(about.tables).toMatchObject([{ name: "items", isForeign: true }]);
  },
);

for (const { name, isAvailable, makeUrl } of [SQLITE_FILE, POSTGRESQL]) {
  test.skipIf(!MONGODB.isAvailable || !isAvailable)(
    `D-12.5 rows that another program left without a number are named before they go to a ${name}`,
    async () => {
      const from = await prepared();
      const numbered = { _id: oid(1), name: "a", id: 1 };
      await itemsOf(from).insertMany([numbered, { _id: oid(2), name: "b" }] as never);
      const to = await makeUrl();
      const detail = expect.stringContaining('table "items", row ["b"]: it has no id');
      await expect(moveTo(to, from)).rejects.toMatchObject({
        kind: "conflict",
        problems: [{ detail }],
      });
      await itemsOf(from).updateOne({ name: "b" }, { $set: { id: 2 } });
      await moveTo(to, from);
    },
  );
}

test("D-10.7 a document with `undefined`, a field that is there twice or a text that is no UTF-8 has no rest that could be written", () => {
  const row = { id: null, name: "a", at: null, price: null };
  const bytesOf = (more: unknown) => Buffer.from(BSON.serialize({ _id: 1, name: "a", more }));
  const nothing = bytesOf(null);
  expect(restOf(TABLE, row, nothing)).toEqual(nothing);
  const undefinedType = 6;
  nothing[nothing.indexOf("more") - 1] = undefinedType;
  expect(restOf(TABLE, row, nothing)).toBeNull();
  const twice = Buffer.from(BSON.serialize({ _id: 1, name: "a", more: 1, mose: 1 }));
  twice.write("more", twice.indexOf("mose"));
  expect(restOf(TABLE, row, twice)).toBeNull();
  const text = bytesOf("x");
  text[text.indexOf("x")] = 0xff;
  expect(restOf(TABLE, row, text)).toBeNull();
});

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 documents of MongoDB go back into MongoDB as they were, whatever another program keeps in them",
  async () => {
    const [from, to] = [await prepared(), await MONGODB.makeUrl()];
    const storage = await storeAt(from).open(TOOLS);
    await writeTo(storage, TABLE, [
      { index: 0, row: { name: "pushed", price: 0.5 } },
      { index: 1, row: { name: "noted", price: 1.5 } },
    ]);
    await storage.close();
    await itemsOf(from).updateOne({ name: "noted" }, { $set: { more: "than the row" } });
    await itemsOf(from).insertMany(FOREIGN);
    await moveTo(to, from);
    const stored = async (url: string) => {
      const raw = await itemsOf(url).find({}, { promoteValues: false }).toArray();
      return raw.map(textOf).sort();
    };
    const before = await stored(from);
    expect(before).toHaveLength(5);
    expect(await stored(to)).toEqual(before);
  },
);

// Indexes that an application made on the collection of a table.

import { describe, expect } from "bun:test";
import type { Db } from "mongodb";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { ADVICE, ENTRY, ROW } from "../../../contract/tables/foreign-items.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter, readKeyRange } from "../../../support/rows/read-rows.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it, type TestDatabase } from "../support.ts";

const GOODS = makeTable(ENTRY, "goods");
const FOREIGN = ", which another program made, cannot be used";
const KEY = { a: 1, b: 1 } as const;
const ORDER = { at: 1, a: 1, b: 1 } as const;
const GERMAN = { collation: { locale: "de" } };
const SOME = { partialFilterExpression: { note: "x" } };
const MOST_INDEXES = 64;

/** What is there before repsync comes, `_id` left out. */
async function fill({ db }: TestDatabase): Promise<void> {
  await db.collection("goods").insertMany([
    { a: "x", b: 1, at: "2024-01-01T00:00:00", own: true },
    { a: "y", b: 2, at: "2024-01-02T00:00:00" },
  ]);
}

async function namesOf(db: Db): Promise<string[]> {
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  return found.map(({ name }) => name).toSorted();
}

/** A start is refused with this problem of the table, and changes nothing. */
async function expectRefusal({ db, url }: TestDatabase, problem: string): Promise<void> {
  const others = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "others");
  const before = await namesOf(db);
  const opening = openMongoStorage({ url, clock: new SystemClock(), tables: [others, GOODS] });
  await expect(opening).rejects.toMatchObject({
    kind: "schema_conflict",
    message: `Table "goods"${FOREIGN}: ${problem}${ADVICE}`,
  });
  expect(await namesOf(db)).toEqual(before);
}

describe.skipIf(!mongoAvailable)("MongoDB indexes of an application", () => {
  for (const [what, first] of [
    ["behind", true],
    ["before", false],
  ] as const) {
    it(`D-11.4.2 a second one on the same fields, ${what} the one that serves, is in nobody's way`, async (database) => {
      await fill(database);
      const documents = database.db.collection("goods");
      const serving = async () => {
        await documents.createIndex(KEY, { unique: true, name: "key" });
        await documents.createIndex(ORDER, { name: "order" });
      };
      if (first) await serving();
      await documents.createIndex(KEY, { name: "german_key", ...GERMAN });
      await documents.createIndex(KEY, { name: "some_keys", ...SOME });
      await documents.createIndex(ORDER, { name: "german_order", ...GERMAN });
      if (!first) await serving();
      const storage = await database.open();
      const goods = await TableUnderTest.prepare(storage, GOODS);
      const x = { ...ROW, at: "2024-01-03T00:00:00Z", note: "1" };
      const y = { a: "y", b: 2, at: "2024-01-02T00:00:00Z", note: null };
      await goods.write(x);
      const guarded = await goods.writeWith(
        { conflict: "newer" },
        { ...y, note: "kept", at: "2023-01-01T00:00:00Z" },
        { ...y, b: 3, note: "new" },
      );
      expect(guarded).toEqual({ failures: [], kept: [0], changed: 1, deleted: 0 });
      const expected = [y, { ...y, b: 3, note: "new" }, x];
      expect(await goods.rows()).toEqual(expected);
      const after = { after: null, sinceTime: null, limitRows: 2 };
      expect(await readAfter(storage.tables, GOODS, after)).toEqual(expected.slice(0, 2));
      const all = { afterKey: null, throughKey: null };
      expect(await readKeyRange(storage.tables, GOODS, all, 9)).toHaveLength(3);
      expect(await storage.tables.count(GOODS, { hasKey: true })).toBe(3);
      expect(await documents.indexes()).toHaveLength(6);
    });
  }

  it("D-11.4.2 one that is made later on the same fields is in nobody's way", async (database) => {
    const storage = await database.open();
    const goods = await TableUnderTest.prepare(storage, GOODS);
    await goods.write(ROW);
    const documents = database.db.collection("goods");
    await documents.createIndex(KEY, { name: "german", ...GERMAN });
    await documents.createIndex(ORDER, { name: "german_order", ...GERMAN });
    const guarded = await goods.writeWith({ conflict: "newer" }, { ...ROW, note: "n" });
    expect(guarded).toMatchObject({ failures: [], changed: 1 });
    expect(await goods.rows()).toEqual([{ ...ROW, note: "n" }]);
  });

  it("D-11.4.2 those that are in the way are named before anything is written, and stay", async (database) => {
    await fill(database);
    const documents = database.db.collection("goods");
    await documents.createIndex(KEY, { name: "some", unique: true, ...SOME });
    await documents.createIndex({ own: 1 }, { name: "repsync_at-a-b" });
    await expectRefusal(
      database,
      "its index some on (a, b) is in the way of a plain unique index there; its index repsync_at-a-b has the name of the index on (at, a, b) that is needed there",
    );
    expect(await documents.indexes()).toHaveLength(3);
  });

  it("D-11.4.2 a hidden one is in the way, as nothing is read by it", async (database) => {
    await fill(database);
    await database.db.collection("goods").createIndex(ORDER, { name: "hidden", hidden: true });
    const problem = "its index hidden on (at, a, b) is in the way of a plain index there";
    await expectRefusal(database, problem);
  });

  it("D-11.4.2 a unique one stays though the collection has no rows", async ({ db, open }) => {
    await db.collection("goods").createIndex({ own: 1 }, { unique: true });
    await TableUnderTest.prepare(await open(), GOODS);
    const found = await db.collection("goods").indexes();
    expect(found.map(({ name }) => name)).toContain("own_1");
  });

  it("D-11.4.2 as many as MongoDB allows are told before anything is written", async (database) => {
    await fill(database);
    const documents = database.db.collection("goods");
    const others = Array.from({ length: MOST_INDEXES - 2 }, (_, n) => ({ key: { [`f${n}`]: 1 } }));
    await documents.createIndexes(others);
    await expectRefusal(
      database,
      "it has 63 indexes, MongoDB allows 64, and it needs one on (a, b) and (at, a, b)",
    );
    await documents.dropIndex("f0_1");
    const goods = await TableUnderTest.prepare(await database.open(), GOODS);
    expect(await goods.column("a")).toEqual(["x", "y"]);
  });
});

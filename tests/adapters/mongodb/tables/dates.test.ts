// BSON dates that other programs wrote into date and datetime columns: each is that time. D-7.10

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BSON, DBRef, Decimal128, Long, ObjectId } from "mongodb";
import { readPosition } from "../../../../src/adapters/mongodb/tables/row-reader.ts";
import { layoutOf } from "../../../../src/adapters/mongodb/tables/table-layout.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import type { FullStorage } from "../../../../src/ports/storage.ts";
import { walk } from "../../../contract/tables/reading/reading-ways.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter } from "../../../support/rows/read-rows.ts";
import { checkAsyncProperty } from "../../../support/seed.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it } from "../support.ts";

const columns = { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } } as const;
const ITEMS = makeTable({ timestamp_column: "at", upsert_key: ["k"], columns });
const DAYS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { ...columns, at: { type: "date" } },
});

const second = (n: number) => `2024-01-01T00:00:0${n}`;

describe.skipIf(!mongoAvailable)("MongoDB dates", () => {
  it("D-7.10 rows with BSON dates stand among the others by time, then by key", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await database.db.collection("items").insertMany([
      { k: "d", at: new Date(`${second(2)}Z`), v: 1 },
      { k: "b", at: `${second(2)}`, v: 1 },
      { k: "a", at: `${second(3)}`, v: 1 },
      { k: "e", at: null, v: 1 },
      { k: "f", at: new Date(`${second(1)}Z`), v: 1 },
      { k: "c", at: `${second(2)}.000001`, v: 1 },
      { k: "g", at: new Date(`${second(2)}.001Z`), v: 1 },
    ]);
    const order = ["e", "f", "b", "d", "c", "g", "a"];
    expect(await table.column("k")).toEqual(order);
    expect(await table.column("at")).toEqual([
      null,
      `${second(1)}Z`,
      `${second(2)}Z`,
      `${second(2)}Z`,
      `${second(2)}.000001Z`,
      `${second(2)}.001Z`,
      `${second(3)}Z`,
    ]);
    for (const [sinceTime, count] of [
      [`${second(1)}Z`, 6],
      [`${second(1)}.000001Z`, 5],
      [`${second(2)}Z`, 5],
      [`${second(2)}.000002Z`, 2],
      [`${second(2)}.001001Z`, 1],
      [`${second(4)}Z`, 0],
    ] as const) {
      const page = await table.page({ sinceTime });
      expect([page.rows.map(({ k }) => k), page.totalRows]).toEqual([
        order.slice(7 - count),
        count,
      ]);
      expect(await storage.tables.count(ITEMS, { sinceTime: sinceTime, hasKey: true })).toBe(count);
      expect(await keysAfter(storage, sinceTime, 1)).toEqual(order.slice(7 - count));
    }
    expect([
      await table.count(),
      await storage.tables.count(ITEMS, { sinceTime: null, hasKey: true }),
    ]).toEqual([7, 7]);
  });

  it("D-7.10 any mixture of dates and texts is read in one order, at every offset and from every row", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const documents = database.db.collection("items");
    const row = fc.record({ ms: fc.nat(3), isDate: fc.boolean(), isNull: fc.boolean() });
    await checkAsyncProperty(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
        await documents.deleteMany({});
        const stored = rows.map(({ ms, isDate, isNull }, n) => {
          const text = `${second(0)}.00${ms}`.replace(".000", "");
          return {
            k: `k${(n * 5) % 12}`,
            at: isNull ? null : isDate ? new Date(`${text}Z`) : text,
          };
        });
        await documents.insertMany(stored);
        const places = stored.map(({ k, at }) => [at === null ? "" : timeText(at), k] as const);
        const order = places.toSorted().map(([, k]) => k);
        for (let offsetRows = 0; offsetRows < order.length; offsetRows++) {
          const page = await table.page({ offsetRows, limitRows: 2 });
          expect(page.rows.map(({ k }) => k)).toEqual(order.slice(offsetRows, offsetRows + 2));
          expect(page.totalRows).toBe(order.length);
        }
        for (const limit of [1, 2, 5]) {
          expect(await keysAfter(storage, null, limit)).toEqual(order);
          const backwards = { order: "-time", limitRows: limit } as const;
          const rows = await walk(storage.tables, ITEMS, "cursor", backwards);
          expect(rows.map(({ k }) => k)).toEqual(order.toReversed());
        }
      }),
      15,
    );
  });

  it("D-7.10 rows whose time is neither a date nor a text are each on one page beside BSON dates", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const times = [
      ...[null, 5, Long.fromString("5"), Decimal128.fromString("1.5"), "soon", { a: 1 }, { b: 1 }],
      ...[new ObjectId(), false, true],
      // Years 0, 1970, 10000 and 275760.
      ...[-62_135_596_800_001, 0, 253_402_300_800_000, 8.64e15].map((ms) => new Date(ms)),
    ];
    await database.db.collection("items").insertMany(times.map((at, n) => ({ k: `k${n}`, at })));
    const order = await table.column("k");
    expect(order.toSorted()).toEqual(times.map((_, n) => `k${n}`).toSorted());
    for (const limitRows of [1, 2, 4]) {
      expect(await keysAtOffsets(table, order.length, limitRows)).toEqual(order);
      expect(await keysAfter(storage, null, limitRows)).toEqual(order);
    }
  });

  it("D-7.10 a page of more rows than are put in order at once has each once", async (database) => {
    const table = await TableUnderTest.prepare(await database.open(), ITEMS);
    const keys = Array.from({ length: 1_100 }, (_, n) => `k${1_000 + n}`);
    const at = [second(1), new Date(`${second(1)}Z`)];
    await database.db.collection("items").insertMany(keys.map((k, n) => ({ k, at: at[n % 2] })));
    expect(await table.column("k")).toEqual(keys);
  });

  it("D-7.10 rows whose time no driver could write are each on one page", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const documents = database.db.collection("items");
    const times = [null, `${second(1)}`, new Date(0), "soon", null, null, null, null];
    await documents.insertMany(times.map((at, n) => ({ k: `k${n}`, at })));
    const isLast = { k: { $in: ["k5", "k6", "k7"] } };
    for (const endless of [Long.MAX_VALUE, Long.fromString("4611686018427387904")]) {
      await documents.updateMany(isLast, [{ $set: { at: { $toDate: endless } } }]);
      const order = await table.column("k");
      expect(order.toSorted()).toEqual(times.map((_, n) => `k${n}`));
      for (const limitRows of [1, 2, 3]) {
        expect(await keysAtOffsets(table, order.length, limitRows)).toEqual(order);
        const inOrder = await walk(storage.tables, ITEMS, "cursor", { limitRows });
        expect(inOrder.map(({ k }) => k)).toEqual(order);
      }
    }
  });

  test("D-7.10 a document with a value that no driver writes as it reads it has no place to go on from", () => {
    const bytes = Buffer.from(BSON.serialize({ k: "a", at: null }));
    const layout = layoutOf(ITEMS);
    expect(readPosition(bytes, layout)).toEqual({ at: null, k: "a" });
    const undefinedType = 6;
    bytes[bytes.indexOf("at") - 1] = undefinedType;
    expect(readPosition(bytes, layout)).toBeNull();
    const text = Buffer.from(BSON.serialize({ k: "#", at: null }));
    text[text.indexOf("#")] = 0xff;
    expect(readPosition(text, layout)).toBeNull();
    const reference = new DBRef("others", new ObjectId(), "another");
    expect(readPosition(BSON.serialize({ k: "a", at: reference }), layout)).toBeNull();
  });

  it("D-7.10 in a date column a BSON date is its day", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, DAYS);
    await database.db.collection("items").insertMany([
      { k: "a", at: new Date("2024-01-02T00:00:00Z") },
      { k: "b", at: "2024-01-01" },
      { k: "c", at: new Date("2024-01-01T15:30:00Z") },
      { k: "d", at: "2024-01-03" },
      { k: "e", at: "2024-01-02" },
    ]);
    expect((await table.rows()).map(({ k, at }) => [k, at])).toEqual([
      ["b", "2024-01-01"],
      ["c", "2024-01-01"],
      ["a", "2024-01-02"],
      ["e", "2024-01-02"],
      ["d", "2024-01-03"],
    ]);
    for (const [sinceTime, keys] of [
      ["2024-01-01T00:00:00Z", ["b", "c", "a", "e", "d"]],
      ["2024-01-01T12:00:00Z", ["a", "e", "d"]],
      ["2024-01-02T00:00:00Z", ["a", "e", "d"]],
      ["2024-01-02T00:00:00.000001Z", ["d"]],
    ] as const) {
      expect(await table.column("k", { sinceTime })).toEqual([...keys]);
      expect(await storage.tables.count(DAYS, { sinceTime: sinceTime, hasKey: true })).toBe(
        keys.length,
      );
    }
    const outcome = await table.writeWith(
      { conflict: "newer" },
      { k: "a", at: "2024-01-01", v: 1 },
      { k: "c", at: "2024-01-01", v: null },
    );
    expect(outcome).toEqual({ failures: [], kept: [0], changed: 0, deleted: 0 });
  });

  it("D-7.10 a table that other programs filled with BSON dates can be taken over", async (database) => {
    const documents = database.db.collection("items");
    const at = new Date("2024-01-01T00:00:00.120Z");
    await documents.insertMany([
      { k: "a", at, v: 1 },
      { k: "b", at: "2024-01-01T00:00:00", v: 1 },
    ]);
    const table = await TableUnderTest.prepare(await database.open(), ITEMS);
    expect(await table.column("k")).toEqual(["b", "a"]);
    expect(await documents.distinct("at", { k: "a" })).toEqual([at]);
  });

  it("D-7.10 BSON dates in a column that becomes the timestamp, or stops being it, stay that time", async (database) => {
    const storage = await database.open();
    const both = { ...columns, made: { type: "datetime" } } as const;
    const by = (timestamp_column: string) =>
      makeTable({ timestamp_column, upsert_key: ["k"], columns: both });
    await TableUnderTest.prepare(storage, by("at"));
    await database.db.collection("items").insertMany([
      { k: "a", at: new Date(`${second(1)}Z`), made: new Date(`${second(4)}Z`), v: 1 },
      { k: "b", at: second(2), made: second(3), v: 1 },
    ]);
    for (const [column, order] of [
      ["made", ["b", "a"]],
      ["at", ["a", "b"]],
    ] as const) {
      const table = await TableUnderTest.prepare(storage, by(column));
      expect(await table.column("k")).toEqual([...order]);
      expect((await table.rows()).map(({ at }) => at).toSorted()).toEqual([
        `${second(1)}Z`,
        `${second(2)}Z`,
      ]);
    }
  });

  it("D-7.10 a BSON date in a timestamp of the key orders its row from the next start on", async (database) => {
    const storage = await database.open();
    const definition = makeTable({ timestamp_column: "at", upsert_key: ["k", "at"], columns });
    const table = await TableUnderTest.prepare(storage, definition);
    await table.write({ k: "a", at: `${second(2)}Z`, v: 1 });
    await database.db.collection("items").insertMany([
      { k: "b", at: new Date(`${second(1)}Z`), v: 1 },
      { k: "c", at: new Date(`${second(3)}.250Z`), v: 1 },
    ]);
    await storage.tables.prepare([definition]);
    expect(await table.column("k")).toEqual(["b", "a", "c"]);
    expect(await table.column("at", { sinceTime: `${second(2)}.5Z` })).toEqual([
      `${second(3)}.250Z`,
    ]);
  });
});

/** The keys of all rows, read in batches of that many rows, each from the last row of the one before. */
async function keysAfter(
  { tables }: FullStorage,
  sinceTime: string | null,
  limitRows: number,
): Promise<unknown[]> {
  const keys: unknown[] = [];
  let after: Row | null = null;
  for (;;) {
    const batch: readonly Row[] = await readAfter(tables, ITEMS, { after, sinceTime, limitRows });
    keys.push(...batch.map(({ k }) => k));
    after = batch.at(-1) ?? null;
    if (batch.length < limitRows || keys.length > 100) return keys;
  }
}

function timeText(at: Date | string): string {
  const text = typeof at === "string" ? at : at.toISOString().slice(0, -1);
  return text.includes(".") ? text : `${text}.000`;
}

/** The keys of all rows, read in pages of that many rows, each at its offset. */
async function keysAtOffsets(
  table: TableUnderTest,
  rows: number,
  limitRows: number,
): Promise<unknown[]> {
  const keys: unknown[] = [];
  for (let offsetRows = 0; offsetRows < rows; offsetRows += limitRows) {
    keys.push(...(await table.column("k", { offsetRows, limitRows })));
  }
  return keys;
}

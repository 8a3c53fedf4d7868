// Documents that other programs wrote into the collections, and what repsync leaves in them.

import { describe, expect } from "bun:test";
import {
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from "mongodb";
import { rawNumber } from "../../../../src/domain/shared/json.ts";
import { COLUMN_TYPES } from "../../../../src/domain/sync/table/column-types.ts";
import { walk } from "../../../contract/tables/reading/reading-ways.ts";
import { asWrites, TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { LISTINGS, makeTable } from "../../../support/rows/make-table.ts";
import { readAfter, readKeyRange } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { databaseTest as it } from "../support.ts";

const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
});

describe.skipIf(!mongoAvailable)("MongoDB documents", () => {
  it("D-2.4 a row is a plain document with the registry's column names", async (database) => {
    const storage = await database.open();
    const table = makeTable(LISTINGS, "listings");
    await storage.tables.prepare([table]);
    const row = {
      shop: "a",
      sku: "1",
      price: "1.50",
      views: "12345678901234567890",
      active: true,
      listed_on: "2024-05-01",
      updated_at: "2024-05-01T10:00:00.123Z",
      extra: { n: rawNumber("1.10") },
      secret: "s",
    };
    await writeTo(storage, table, asWrites([row]));
    const documents = await database.db.collection("listings").find().toArray();
    expect(documents.map(({ _id, ...fields }) => [_id instanceof ObjectId, fields])).toEqual([
      [
        true,
        {
          shop: "a",
          sku: "1",
          id: 1,
          price: "1.50",
          views: "12345678901234567890",
          active: true,
          listed_on: "2024-05-01",
          updated_at: "2024-05-01T10:00:00.123",
          extra: '{"n":1.10}',
          secret: "s",
        },
      ],
    ]);
  });

  it("D-3.3 pages show values of any BSON type as well as JSON can", async (database) => {
    const storage = await database.open();
    const cells = Object.fromEntries(COLUMN_TYPES.map((type) => [type, { type }]));
    const definition = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" }, ...cells } });
    const table = await TableUnderTest.prepare(storage, definition);
    const values: Record<string, unknown> = {
      ancient: new Date("-000001-01-01T00:00:00Z"),
      code: new Code("f()", { a: Long.fromNumber(1) }),
      date: new Date("2024-05-01T10:00:00.120Z"),
      decimal: Decimal128.fromString("1.50"),
      double: new Double(2.5),
      id: new ObjectId("0123456789abcdef01234567"),
      int: 5,
      greatest: new MaxKey(),
      least: new MinKey(),
      list: [1, new Date(0), { a: Long.fromString("9007199254740993") }],
      long: Long.fromString("9007199254740993"),
      nan: Number.NaN,
      object: { a: { json: "x" } },
      pattern: /a/i,
      reference: new DBRef("others", new ObjectId("0123456789abcdef01234567")),
      symbol: new BSONSymbol("x"),
      text: "2024-05-01 10:00",
      timestamp: new Timestamp({ t: 1, i: 2 }),
      verbatim: { json: "1", other: 2 },
    };
    await database.db.collection("items").insertMany(
      Object.entries(values).map(([k, value]) => ({
        k,
        ...Object.fromEntries(COLUMN_TYPES.map((type) => [type, value])),
      })),
    );
    const rows = new Map((await table.rows()).map(({ k, ...row }) => [k, row]));
    expect(rows.size).toBe(Object.keys(values).length);
    for (const [k, text] of [
      ["ancient", "-62198755200000 ms"],
      ["code", '{"code":"f()","scope":{"a":1}}'],
      ["greatest", "MaxKey"],
      ["least", "MinKey"],
      ["pattern", "/a/i"],
      ["reference", '{"$ref":"others","$id":"0123456789abcdef01234567"}'],
      ["symbol", "x"],
      ["timestamp", "4294967298"],
      ["verbatim", '{"json":"1","other":2}'],
    ] as const) {
      expect([k, rows.get(k)?.["text"]]).toEqual([k, text]);
    }
    expect(JSON.stringify(rows.get("date"))).toBe(
      `{${COLUMN_TYPES.map((type) => `"${type}":${type === "date" ? '"2024-05-01"' : '"2024-05-01T10:00:00.120Z"'}`)}}`,
    );
    expect(rows.get("decimal")?.["numeric"]).toBe("1.50");
    expect(rows.get("double")).toMatchObject({ text: 2.5, numeric: "2.5", real: 2.5, json: 2.5 });
    expect(rows.get("id")?.["text"]).toBe("0123456789abcdef01234567");
    expect(rows.get("int")).toMatchObject({ text: 5, integer: 5, bigint: "5", real: 5, date: 5 });
    expect(JSON.stringify(rows.get("list")?.["json"])).toBe(
      '[1,"1970-01-01T00:00:00Z",{"a":9007199254740993}]',
    );
    expect(rows.get("list")?.["text"]).toBe('[1,"1970-01-01T00:00:00Z",{"a":9007199254740993}]');
    expect(rows.get("long")).toMatchObject({
      integer: rawNumber("9007199254740993"),
      bigint: "9007199254740993",
      numeric: "9007199254740993",
    });
    expect(rows.get("nan")).toMatchObject({ real: "NaN", numeric: "NaN" });
    expect(rows.get("object")).toMatchObject({
      json: { a: { json: "x" } },
      text: '{"a":{"json":"x"}}',
    });
    expect(rows.get("text")).toMatchObject({
      text: "2024-05-01 10:00",
      datetime: "2024-05-01T10:00:00Z",
      date: "2024-05-01",
      json: "2024-05-01 10:00",
    });
  });

  it("D-3.3 a column that a document does not have is null, until it is written", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await database.db
      .collection("items")
      .insertMany([{ k: "a" }, { k: "b", at: 5 }, { k: "c", _repsync: "of another program" }]);
    expect(await table.rows()).toEqual([
      { k: "a", at: null, v: null },
      { k: "c", at: null, v: null },
      { k: "b", at: 5, v: null },
    ]);
    await table.write({ k: "a", at: "2024-01-01T00:00:00Z", v: 1 });
    expect(await table.rows({ sinceTime: "2024-01-01T00:00:00Z" })).toEqual([
      { k: "a", at: "2024-01-01T00:00:00Z", v: 1 },
    ]);
  });

  it("D-3.4 a list in a column of the order does not hide other rows", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "x", at: null, v: 1 }, { k: "y", at: "2024-01-01T00:00:00Z", v: 1 });
    const lists = [
      { k: ["b", "c"], at: null },
      { k: ["d", "e"], at: "2024-01-01T00:00:00" },
    ];
    await database.db.collection("items").insertMany(lists);
    const names: unknown[] = [];
    for (let offsetRows = 0; offsetRows < 6; offsetRows++) {
      const page = await table.page({ offsetRows, limitRows: 1 });
      expect(page.totalRows).toBe(4);
      names.push(...page.rows.map(({ k }) => k));
    }
    expect(names.toSorted()).toEqual(['["b","c"]', '["d","e"]', "x", "y"]);
  });

  it("S-4.2.10 a guarded record whose key is a value in a list is refused, and leaves the list there", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, { ...ITEMS, conflict: "newer" });
    const list = { k: ["b", "c"], at: "2024-01-01T00:00:00", v: 1 };
    await database.db.collection("items").insertOne({ ...list });
    const at = "2024-01-02T00:00:00Z";
    const { failures, changed } = await table.writeWith({}, { k: "b", at, v: 2 }, { k: "d", at });
    const message = "Another row has the same value in a unique index of the MongoDB collection";
    expect([failures, changed]).toEqual([[{ index: 0, message }], 1]);
    expect(await database.db.collection("items").findOne({ v: 1 })).toMatchObject(list);
  });

  it("D-4.6, D-14.5 a document without a key is on pages by time, and nothing else finds it", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const row = { k: "a", at: "2024-01-01T00:00:00Z", v: 1 };
    await table.write(row);
    await database.db.collection("items").insertOne({ v: 7 });
    expect(await table.page()).toEqual({ rows: [{ k: null, at: null, v: 7 }, row], totalRows: 2 });
    const { tables } = storage;
    for (const [order, rows] of [
      ["time", 2],
      ["-time", 1],
      ["key", 1],
      ["-key", 1],
    ] as const) {
      expect(await walk(tables, ITEMS, "cursor", { order, limitRows: 1 })).toHaveLength(rows);
    }
    const noKey = { k: null };
    const everything = { after: null, sinceTime: null, limitRows: 9 };
    for (const found of [
      await tables.byKeys(ITEMS, [noKey, { k: "a" }], "sent"),
      await readAfter(tables, ITEMS, everything),
      await readKeyRange(tables, ITEMS, { afterKey: null, throughKey: null }, 9),
    ]) {
      expect(found).toEqual([row]);
    }
    const toNone = { afterKey: null, throughKey: noKey };
    expect(await readKeyRange(tables, ITEMS, toNone, 9)).toEqual([]);
    expect(await tables.count(ITEMS, { hasKey: true })).toBe(1);
  });

  it("D-3.4 what another program commits is shown 2 s later at the latest", async (database) => {
    const clock = new FakeClock();
    const table = await TableUnderTest.prepare(await database.open("", clock), ITEMS);
    await database.db.client.withSession(async (session) => {
      session.startTransaction();
      await database.db.collection("items").insertOne({ k: "a" }, { session });
      expect(await table.page()).toEqual({ rows: [], totalRows: 0 });
      await session.commitTransaction();
    });
    clock.advance(2_000);
    expect(await table.column("k")).toEqual(["a"]);
    expect((await table.page({ limitRows: 1 })).totalRows).toBe(1);
  });

  it("D-3.4 pages and totals follow what other programs write and remove", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const documents = database.db.collection("items");
    const at = "2024-01-01T00:00:00";
    await table.write(
      ...Array.from({ length: 100 }, (_, n) => ({ k: `k${100 + n}`, at: `${at}Z`, v: n })),
    );
    const page = () => table.page({ offsetRows: 50, limitRows: 1 });
    const first = async () => [(await page()).rows[0]?.["k"], (await page()).totalRows];
    expect([await first(), await first()]).toEqual([
      ["k150", 100],
      ["k150", 100],
    ]);
    await documents.insertOne({ k: "a", at, v: 0 });
    expect([await first(), await table.count()]).toEqual([["k149", 101], 101]);
    await documents.deleteMany({ k: { $in: ["a", "k100", "k101"] } });
    expect([await first(), await table.count()]).toEqual([["k152", 98], 98]);
    await documents.updateOne({ k: "k199" }, { $set: { at: "2023-01-01T00:00:00" } });
    expect([await first(), await table.count()]).toEqual([["k151", 98], 98]);
    await documents.bulkWrite([
      { insertOne: { document: { k: "a", at, v: 0 } } },
      { deleteOne: { filter: { k: "k198" } } },
    ]);
    expect([await first(), await table.count()]).toEqual([["k150", 98], 98]);
  });

  it("D-7.10 a BSON date in the timestamp column is that time to the guard", async (database) => {
    const storage = await database.open();
    const guarded = { ...ITEMS, conflict: "newer" } as const;
    const table = await TableUnderTest.prepare(storage, guarded);
    const at = new Date("2024-01-02T00:00:00.120Z");
    const documents = ["a", "b", "c"].map((k) => ({ k, at, v: 1 }));
    await database.db.collection("items").insertMany(documents);
    const [older, equal, newer] = ["119", "120", "121"].map((ms) => `2024-01-02T00:00:00.${ms}Z`);
    const outcome = await table.writeWith(
      {},
      { k: "a", at: older!, v: 2 },
      { k: "b", at: equal!, v: 2 },
      { k: "c", at: newer!, v: 2 },
    );
    expect(outcome).toEqual({ failures: [], kept: [0], changed: 2, deleted: 0 });
    expect(byKey(await table.rows())).toEqual([
      { k: "a", at: equal!, v: 1 },
      { k: "b", at: equal!, v: 2 },
      { k: "c", at: newer!, v: 2 },
    ]);
  });

  it("D-7.10 a row that changes at its time is told from that time on, in whichever form another program wrote it", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, { ...ITEMS, conflict: "newer" });
    await database.db.collection("items").insertOne({ k: "a", at: "2024-05-01 10:00:00" });
    const row = { k: "a", at: "2024-05-01T10:00:00Z", v: 1 };
    await table.write(row);
    expect(await table.rows({ sinceTime: "2024-05-01T10:00:00Z" })).toEqual([row]);
  });

  it("D-7.10 a guarded record that is the row with a BSON date leaves the date there", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const at = new Date("2024-01-02T00:00:00Z");
    await database.db.collection("items").insertOne({ k: "a", at, v: 1 });
    const same = { k: "a", at: "2024-01-02T00:00:00Z", v: 1 };
    const outcome = await table.writeWith({ conflict: "newer" }, same);
    expect(outcome).toEqual({ failures: [], kept: [], changed: 0, deleted: 0 });
    expect(await database.db.collection("items").distinct("at")).toEqual([at]);
  });

  it("D-7.10 a push without the guard writes a text in place of a BSON date, which is the same time", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const at = new Date("2024-01-02T00:00:00Z");
    await database.db.collection("items").insertOne({ k: "a", at, v: 1 });
    const same = { k: "a", at: "2024-01-02T00:00:00Z", v: 1 };
    expect((await table.writeWith({}, same)).changed).toBe(1);
    expect(await database.db.collection("items").distinct("at")).toEqual(["2024-01-02T00:00:00"]);
    expect(await table.rows()).toEqual([same]);
  });

  it("D-3.3 an unparsed timestamp is forgotten when the row gets another one", async (database) => {
    const storage = await database.open();
    const table = await TableUnderTest.prepare(storage, ITEMS);
    for (const at of ["soon", null, "later", "2024-01-01T00:00:00Z", null, 5, null]) {
      await table.write({ k: "a", at, v: 1 });
      expect(await table.column("at")).toEqual([at]);
    }
  });

  it("S-4.2.9 a push that changes nothing writes nothing", async (database) => {
    const storage = await database.open();
    const newer = makeTable({ ...LISTINGS, conflict: "newer" }, "newer");
    for (const table of [makeTable(LISTINGS, "listings"), newer]) {
      await storage.tables.prepare([table]);
      const writes = asWrites([
        { shop: "a", sku: "1", price: "1.50", updated_at: "2024-05-01T10:00:00Z", extra: [1] },
        { shop: "a", sku: "2", price: null, updated_at: "soon", extra: null },
        { shop: "a", sku: "3", price: true, updated_at: null, extra: null },
      ]);
      await writeTo(storage, table, writes);
      const { oplog } = await lastEntry();
      await writeTo(storage, table, writes);
      expect((await lastEntry()).oplog).toEqual(oplog);
    }

    /** The last change of the test's own tables in the server's log of changes. */
    async function lastEntry() {
      const log = database.db.client.db("local").collection("oplog.rs");
      const ns = new RegExp(`^${database.db.databaseName}\\.(listings|newer|repsync_versions)$`);
      const [oplog] = await log
        .find({ $or: [{ ns }, { "o.applyOps.ns": ns }] })
        .sort({ $natural: -1 })
        .limit(1)
        .toArray();
      return { oplog: oplog?.["ts"] };
    }
  });
});

function byKey<Row extends { readonly k?: unknown }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => (String(a.k) < String(b.k) ? -1 : 1));
}

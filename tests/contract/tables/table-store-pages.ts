import { describe, expect } from "bun:test";
import { rawNumber } from "../../../src/domain/shared/json.ts";
import type { ColumnType, ColumnValue } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/make-table.ts";
import { type StoreHarness, storeTests } from "../harness.ts";
import { TableUnderTest } from "./table-under-test.ts";

/** Key values in the order of D-3.1, by the type of the key column. */
const ORDERED_KEYS: Readonly<Partial<Record<ColumnType, readonly ColumnValue[]>>> = {
  text: [
    "",
    "\u0000",
    "10",
    "9",
    "A",
    "Z",
    "a",
    "a\u0000b",
    "a b",
    "aa",
    "z",
    "é",
    "\uffee",
    "\uffff",
    "\u{10000}",
    "😀",
    rawNumber("1.10"),
    10,
    9,
    false,
    true,
  ],
  integer: [
    rawNumber("-9223372036854775807"),
    rawNumber("-9007199254740993"),
    -9007199254740991,
    -10,
    -9,
    0,
    9,
    10,
    9007199254740991,
    rawNumber("9007199254740992"),
    rawNumber("9007199254740993"),
    rawNumber("9223372036854775806"),
    rawNumber("9223372036854775807"),
    "10",
    "9",
    "abc",
    1.5,
    rawNumber("1.50"),
    true,
  ],
  bigint: [
    "-9223372036854775807",
    "-9007199254740993",
    "-9007199254740992",
    "-10",
    "-9",
    "0",
    "9",
    "10",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
  ],
  boolean: [false, true],
  date: ["0001-01-01", "1999-12-31", "2000-01-01", "9999-12-31", "2024-02-30", "soon", 5, true],
  datetime: [
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999999Z",
    "2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00.000001Z",
    "2024-01-01T00:00:00.001Z",
    "2024-01-01T00:00:00.001001Z",
    "2024-01-01T00:00:00.100Z",
    "2024-01-01T00:00:01Z",
    "9999-12-31T23:59:59.999999Z",
    "2024-02-30T00:00:00Z",
    "soon",
    5,
    true,
  ],
};

const EVENTS = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["name"],
    columns: { name: { type: "text" }, at: { type: "datetime" } },
  },
  "events",
);

const DAYS = makeTable(
  {
    timestamp_column: "day",
    upsert_key: ["name"],
    columns: { name: { type: "text" }, day: { type: "date" } },
  },
  "days",
);

const PLAIN = makeTable(
  { upsert_key: ["name"], columns: { name: { type: "text" }, note: { type: "text" } } },
  "plain",
);

/** Order, `since`, offset, limit and total of `readPage()`. */
export function tablePageTests(harness: StoreHarness): void {
  describe(`${harness.name}: pages`, () => {
    orderTests(harness);
    sinceTests(harness);
    pagingTests(harness);
  });
}

function orderTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  for (const [type, keys] of Object.entries(ORDERED_KEYS)) {
    it(`D-3.1, D-3.1.4 readPage() orders ${type} keys by value, others after them by their JSON text`, async (storage) => {
      const entry = { upsert_key: ["k"], columns: { k: { type: type as ColumnType } } };
      const table = await TableUnderTest.prepare(storage, makeTable(entry));
      await table.write(...keys.map((k) => ({ k })).reverse());
      expect(await table.column("k")).toEqual([...keys]);
    });
  }

  it("D-3.1 readPage() orders by timestamp, ties by key, nulls and unparseable ones first by key", async (storage) => {
    const table = await TableUnderTest.prepare(storage, EVENTS);
    await table.write(
      { name: "c", at: "2024-01-01T00:00:00Z" },
      { name: "b", at: "2024-01-01T00:00:00Z" },
      { name: "z", at: "2023-12-31T23:59:59.999999Z" },
      { name: "a", at: "2024-01-01T00:00:00.000001Z" },
      { name: "y", at: null },
      { name: "x", at: "not a time" },
      { name: "w", at: "2024-02-30T00:00:00Z" },
      { name: "v", at: 20240101 },
      { name: "u", at: null },
      { name: "t", at: "123-45-67T89:01:2" },
    );
    expect(await table.column("name")).toEqual(["t", "u", "v", "w", "x", "y", "z", "b", "c", "a"]);
  });

  it("D-3.1 readPage() orders by a date timestamp, nulls and unparseable ones first", async (storage) => {
    const table = await TableUnderTest.prepare(storage, DAYS);
    await table.write(
      { name: "d", day: "2024-01-02" },
      { name: "c", day: "2024-01-10" },
      { name: "b", day: "2024-13-01" },
      { name: "e", day: null },
      { name: "a", day: "2024-01-02" },
    );
    expect(await table.column("name")).toEqual(["b", "e", "a", "d", "c"]);
  });

  it("D-3.1 readPage() orders by several key columns in upsert_key order", async (storage) => {
    const definition = makeTable({
      upsert_key: ["second", "first"],
      columns: { first: { type: "text" }, second: { type: "integer" }, note: { type: "text" } },
    });
    const table = await TableUnderTest.prepare(storage, definition);
    await table.write(
      { first: "a", second: 2, note: null },
      { first: "b", second: 1, note: null },
      { first: "é", second: 1, note: null },
      { first: "z", second: -1, note: null },
      { first: "a", second: 1, note: null },
    );
    expect((await table.rows()).map((row) => [row["second"], row["first"]])).toEqual([
      [-1, "z"],
      [1, "a"],
      [1, "b"],
      [1, "é"],
      [2, "a"],
    ]);
  });

  it("D-3.1 readPage() gives an updated row its new place", async (storage) => {
    const table = await TableUnderTest.prepare(storage, EVENTS);
    await table.write(
      { name: "a", at: "2024-01-01T00:00:00Z" },
      { name: "b", at: "2024-01-02T00:00:00Z" },
      { name: "c", at: null },
    );
    await table.write({ name: "a", at: "2024-01-03T00:00:00Z" }, { name: "b", at: "later" });
    expect(await table.column("name")).toEqual(["b", "c", "a"]);
  });
}

function sinceTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("S-4.1 readPage() gives rows at or after sinceTime, to the microsecond", async (storage) => {
    const table = await TableUnderTest.prepare(storage, EVENTS);
    await table.write(
      { name: "1", at: "2024-01-01T00:00:00Z" },
      { name: "2", at: "2024-01-01T00:00:00.000001Z" },
      { name: "3", at: "2024-01-01T00:00:00.001Z" },
      { name: "4", at: "2024-01-01T00:00:00.001001Z" },
      { name: "5", at: "2024-01-01T00:00:01Z" },
      { name: "6", at: null },
      { name: "7", at: "not a time" },
    );
    const since = (sinceTime: string) => table.column("name", { sinceTime });
    expect(await since("2023-01-01T00:00:00Z")).toEqual(["1", "2", "3", "4", "5"]);
    expect(await since("2024-01-01T00:00:00Z")).toEqual(["1", "2", "3", "4", "5"]);
    expect(await since("2024-01-01T00:00:00.000001Z")).toEqual(["2", "3", "4", "5"]);
    expect(await since("2024-01-01T00:00:00.000002Z")).toEqual(["3", "4", "5"]);
    expect(await since("2024-01-01T00:00:00.001Z")).toEqual(["3", "4", "5"]);
    expect(await since("2024-01-01T00:00:00.001001Z")).toEqual(["4", "5"]);
    expect(await since("2024-01-01T00:00:00.002Z")).toEqual(["5"]);
    expect(await since("2024-01-01T00:00:01Z")).toEqual(["5"]);
    expect(await since("2024-01-01T00:00:01.000001Z")).toEqual([]);
    expect(
      (await table.page({ sinceTime: "2024-01-01T00:00:00.001Z", limitRows: 1 })).totalRows,
    ).toBe(3);
    expect((await table.page({ sinceTime: "0001-01-01T00:00:00Z" })).totalRows).toBe(5);
  });

  it("S-4.1 readPage() takes a date timestamp for midnight", async (storage) => {
    const table = await TableUnderTest.prepare(storage, DAYS);
    await table.write(
      { name: "1", day: "2024-01-01" },
      { name: "2", day: "2024-01-02" },
      { name: "3", day: "2024-01-03" },
      { name: "4", day: null },
      { name: "5", day: "2024-02-30" },
    );
    const since = (sinceTime: string) => table.column("name", { sinceTime });
    expect(await since("2024-01-02T00:00:00Z")).toEqual(["2", "3"]);
    expect(await since("2024-01-02T00:00:00.000001Z")).toEqual(["3"]);
    expect(await since("2024-01-01T23:59:59.999999Z")).toEqual(["2", "3"]);
    expect(await since("2024-01-03T12:00:00Z")).toEqual([]);
  });
}

function pagingTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("D-3.4 readPage() cuts at offset and limit, and counts every row that matches", async (storage) => {
    const table = await TableUnderTest.prepare(storage, PLAIN);
    await table.write(...["e", "d", "c", "b", "a"].map((name) => ({ name, note: null })));
    const names = (offsetRows: number, limitRows: number) =>
      table.column("name", { offsetRows, limitRows });
    expect(await names(0, 2)).toEqual(["a", "b"]);
    expect(await names(2, 2)).toEqual(["c", "d"]);
    expect(await names(4, 2)).toEqual(["e"]);
    expect(await names(1, 100)).toEqual(["b", "c", "d", "e"]);
    expect(await names(5, 2)).toEqual([]);
    expect(await names(9_007_199_254_740_991, 2)).toEqual([]);
    expect((await table.page({ offsetRows: 3, limitRows: 1 })).totalRows).toBe(5);
    expect((await table.page({ offsetRows: 7, limitRows: 1 })).totalRows).toBe(5);
    expect(await table.count()).toBe(5);
  });

  it("D-7.9 readPage() ends before its JSON is too large, but not before its first row", async (storage) => {
    const table = await TableUnderTest.prepare(storage, PLAIN);
    const names = Array.from({ length: 40 }, (_, i) => String(i).padStart(2, "0"));
    await table.write(...names.map((name) => ({ name, note: "é".repeat(500) })));
    const rowBytes = Buffer.byteLength(JSON.stringify({ name: "00", note: "é".repeat(500) }));
    const counted = async (rows: number, offsetRows = 0, limitRows = 100) => {
      const maxJsonBytes = Math.max(1, rows * (rowBytes + 1) + 1);
      const page = await table.page({ offsetRows, limitRows, maxJsonBytes });
      expect(page.totalRows).toBe(40);
      return page.rows.map(({ name }) => name);
    };
    expect(await counted(25)).toEqual(names.slice(0, 25));
    expect(await counted(25, 25)).toEqual(names.slice(25));
    expect(await counted(25, 3, 20)).toEqual(names.slice(3, 23));
    expect(await counted(2, 38)).toEqual(names.slice(38));
    expect(await counted(0, 7)).toEqual(["07"]);
    expect(await counted(0, 40)).toEqual([]);
  });

  it("D-3.4 readPage() of an empty table has no rows and total 0", async (storage) => {
    for (const definition of [EVENTS, PLAIN]) {
      const table = await TableUnderTest.prepare(storage, definition);
      expect(await table.page()).toEqual({ rows: [], totalRows: 0 });
      expect(await table.count()).toBe(0);
    }
  });

  it("S-2.1 readPage() shows the serialized columns in registry order", async (storage) => {
    const definition = makeTable({
      timestamp_column: "at",
      upsert_key: ["z"],
      columns: {
        z: { type: "text" },
        secret: { type: "text", serialize: false },
        at: { type: "datetime" },
        a: { type: "integer" },
        id: { type: "integer", auto_increment: true },
      },
    });
    const table = await TableUnderTest.prepare(storage, definition);
    await table.write({ a: 1, at: null, secret: "s", z: "k" });
    expect(JSON.stringify(await table.rows())).toBe('[{"z":"k","at":null,"a":1,"id":1}]');
  });

  it("D-3.4 pages read in order give each row once, with any page size and since", async (storage) => {
    const table = await TableUnderTest.prepare(storage, EVENTS);
    const names = Array.from({ length: 300 }, (_, i) => String(i).padStart(3, "0"));
    const at = (i: number) => (i < 30 ? null : `2024-01-01T00:00:0${i % 7}Z`);
    await table.write(...names.map((name, i) => ({ name, at: at(i) })));
    const everything = await table.column("name");
    const later = await table.column("name", { sinceTime: "2024-01-01T00:00:03Z" });
    expect(everything.toSorted()).toEqual(names);
    expect(later.length).toBe(155);
    for (const limitRows of [1, 7, 100, 300]) {
      expect(await inPages(table, { sinceTime: null, limitRows })).toEqual(everything);
      expect(await inPages(table, { sinceTime: "2024-01-01T00:00:03Z", limitRows })).toEqual(later);
    }
  });
}

/** The names of all pages, read one after the other. */
async function inPages(
  table: TableUnderTest,
  query: { sinceTime: string | null; limitRows: number },
): Promise<ColumnValue[]> {
  const names: ColumnValue[] = [];
  for (;;) {
    const page = await table.column("name", { ...query, offsetRows: names.length });
    if (page.length === 0) return names;
    names.push(...page);
  }
}

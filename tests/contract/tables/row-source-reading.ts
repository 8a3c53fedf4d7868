import { describe, expect } from "bun:test";
import { rawNumber } from "../../../src/domain/shared/json.ts";
import type { ColumnValue, Row, Table } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/make-table.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import { writeTo } from "../../support/write-to.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";
import { asWrites } from "./table-under-test.ts";

/** What the suites of `RowSource` look at. */
export type RowParts = Pick<RunStorage, "tables" | "rows" | "documents" | "close">;

const EVENTS = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["name"],
    columns: { name: { type: "text" }, at: { type: "datetime" } },
  },
  "events",
);

const PLAIN = makeTable(
  {
    upsert_key: ["shop", "number"],
    columns: { number: { type: "bigint" }, note: { type: "text" }, shop: { type: "text" } },
  },
  "plain",
);

const HIDING = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: {
      at: { type: "datetime" },
      secret: { type: "text", serialize: false },
      id: { type: "integer", auto_increment: true },
      v: { type: "numeric" },
      k: { type: "text" },
    },
  },
  "hiding",
);

/** Reading by place, by key and by range. */
export function rowReadingTests(harness: StoreHarness<RowParts>): void {
  describe(`${harness.name}: rows`, () => {
    orderTests(harness);
    sinceTests(harness);
    keyTests(harness);
    rangeTests(harness);
    visibilityTests(harness);
  });
}

function orderTests(harness: StoreHarness<RowParts>): void {
  const it = storeTests(harness);

  it("D-4.6 readAfter() reads on in the order of the table, ties by key, nulls first", async (storage) => {
    await prepared(storage, EVENTS, [
      { name: "c", at: "2024-01-01T00:00:00Z" },
      { name: "b", at: "2024-01-01T00:00:00Z" },
      { name: "a", at: "2024-01-01T00:00:00.000001Z" },
      { name: "z", at: null },
      { name: "y", at: "not a time" },
      { name: "d", at: "2023-12-31T23:59:59.999999Z" },
    ]);
    const everything = ["y", "z", "d", "b", "c", "a"];
    expect(await names(storage, {})).toEqual(everything);
    expect(await names(storage, { limitRows: 2 })).toEqual(["y", "z"]);
    const after = (name: string, at: ColumnValue) => names(storage, { after: { name, at } });
    expect(await after("y", "not a time")).toEqual(everything.slice(1));
    expect(await after("z", null)).toEqual(everything.slice(2));
    expect(await after("d", "2023-12-31T23:59:59.999999Z")).toEqual(everything.slice(3));
    expect(await after("b", "2024-01-01T00:00:00Z")).toEqual(everything.slice(4));
    expect(await after("a", "2024-01-01T00:00:00.000001Z")).toEqual([]);
  });

  it("D-4.6 readAfter() takes any position, also one where no row is", async (storage) => {
    await prepared(storage, EVENTS, [
      { name: "b", at: "2024-01-01T00:00:00Z" },
      { name: "d", at: "2024-01-01T00:00:00Z" },
      { name: "a", at: "2024-01-01T00:00:01Z" },
    ]);
    const after = (name: string, at: ColumnValue) => names(storage, { after: { name, at } });
    expect(await after("c", null)).toEqual(["b", "d", "a"]);
    expect(await after("", "2024-01-01T00:00:00Z")).toEqual(["b", "d", "a"]);
    expect(await after("c", "2024-01-01T00:00:00Z")).toEqual(["d", "a"]);
    expect(await after("z", "2024-01-01T00:00:00.999Z")).toEqual(["a"]);
    expect(await after("a", "9999-01-01T00:00:00Z")).toEqual([]);
  });

  it("D-4.6 readAfter() meets a row again that moved behind the place it was read from", async (storage) => {
    await prepared(storage, EVENTS, [
      { name: "a", at: "2024-01-01T00:00:00Z" },
      { name: "b", at: "2024-01-01T00:00:01Z" },
      { name: "c", at: "2024-01-01T00:00:02Z" },
    ]);
    const query = { after: null, sinceTime: null, limitRows: 2 };
    const [, last] = await storage.rows.readAfter(EVENTS, query);
    await write(storage, EVENTS, [{ name: "b", at: "2024-01-01T00:00:03Z" }]);
    expect(await names(storage, { after: last! })).toEqual(["c", "b"]);
    await write(storage, EVENTS, [{ name: "b", at: null }]);
    expect(await names(storage, { after: last! })).toEqual(["c"]);
  });

  it("D-4.6 readAfter() reads tables without a timestamp by key, several columns in key order", async (storage) => {
    await prepared(storage, PLAIN, [
      { shop: "b", number: "10", note: "4" },
      { shop: "a", number: "9", note: "2" },
      { shop: "b", number: "-1", note: "3" },
      { shop: "a", number: "-9007199254740993", note: "1" },
      { shop: "é", number: "0", note: "5" },
    ]);
    const notes = async (after: Row | null, limitRows = 100) => {
      const query = { after, sinceTime: "2024-01-01T00:00:00Z", limitRows };
      return (await storage.rows.readAfter(PLAIN, query)).map((row) => row["note"]);
    };
    expect(await notes(null)).toEqual(["1", "2", "3", "4", "5"]);
    expect(await notes({ shop: "a", number: "9" }, 2)).toEqual(["3", "4"]);
    expect(await notes({ shop: "a", number: "-9007199254740994" })).toHaveLength(5);
    expect(await notes({ shop: "b", number: "9" })).toEqual(["4", "5"]);
    expect(await storage.rows.countSince(PLAIN, "2024-01-01T00:00:00Z")).toBe(5);
  });

  it("D-4.6 rows have the columns that a run sends, in registry order, values as written", async (storage) => {
    const row = { at: "2024-01-01T00:00:00.100Z", v: "1.10", k: "a" };
    await prepared(storage, HIDING, [{ ...row, secret: "s" }]);
    const query = { after: null, sinceTime: null, limitRows: 1 };
    const reads = [
      await storage.rows.readAfter(HIDING, query),
      await storage.rows.readByKeys(HIDING, [{ k: "a" }]),
      await storage.rows.readKeyRange(HIDING, { afterKey: null, throughKey: null }, 1),
    ];
    for (const rows of reads) expect(JSON.stringify(rows)).toBe(JSON.stringify([row]));
  });
}

function sinceTests(harness: StoreHarness<RowParts>): void {
  const it = storeTests(harness);

  it("D-4.6 readAfter() and countSince() take rows at or after sinceTime", async (storage) => {
    await prepared(storage, EVENTS, [
      { name: "a", at: null },
      { name: "b", at: "soon" },
      { name: "c", at: "2024-01-01T00:00:00Z" },
      { name: "d", at: "2024-01-01T00:00:00.000001Z" },
      { name: "e", at: "2024-01-01T00:00:01Z" },
    ]);
    const from = async (sinceTime: string | null) => {
      const found = await names(storage, { sinceTime });
      expect(await storage.rows.countSince(EVENTS, sinceTime)).toBe(found.length);
      return found.join("");
    };
    expect(await from(null)).toBe("abcde");
    expect(await from("0001-01-01T00:00:00Z")).toBe("cde");
    expect(await from("2024-01-01T00:00:00Z")).toBe("cde");
    expect(await from("2024-01-01T00:00:00.000001Z")).toBe("de");
    expect(await from("2024-01-01T00:00:00.000002Z")).toBe("e");
    expect(await from("2024-01-01T00:00:01.001Z")).toBe("");
  });

  it("D-4.6 readAfter() begins at the later of position and sinceTime", async (storage) => {
    const at = (second: number) => `2024-01-01T00:00:0${second}Z`;
    await prepared(
      storage,
      EVENTS,
      [1, 2, 3, 4, 5].map((n) => ({ name: `${n}`, at: at(n) })),
    );
    const read = (after: Row, sinceTime: string) => names(storage, { after, sinceTime });
    expect(await read({ name: "1", at: at(1) }, at(3))).toEqual(["3", "4", "5"]);
    expect(await read({ name: "9", at: null }, at(3))).toEqual(["3", "4", "5"]);
    expect(await read({ name: "3", at: at(3) }, at(3))).toEqual(["4", "5"]);
    expect(await read({ name: "", at: at(3) }, at(3))).toEqual(["3", "4", "5"]);
    expect(await read({ name: "4", at: at(4) }, at(3))).toEqual(["5"]);
  });

  it("D-4.6 a date timestamp is midnight", async (storage) => {
    const days = makeTable({
      timestamp_column: "day",
      upsert_key: ["k"],
      columns: { k: { type: "text" }, day: { type: "date" } },
    });
    await prepared(storage, days, [
      { k: "a", day: "2024-01-01" },
      { k: "b", day: "2024-01-02" },
      { k: "c", day: "2024-01-03" },
      { k: "d", day: "2024-02-30" },
    ]);
    const keys = async (sinceTime: string | null, after: Row | null = null) => {
      const rows = await storage.rows.readAfter(days, { after, sinceTime, limitRows: 9 });
      return rows.map((row) => row["k"]);
    };
    expect(await keys("2024-01-02T00:00:00Z")).toEqual(["b", "c"]);
    expect(await keys("2024-01-02T00:00:00.000001Z")).toEqual(["c"]);
    expect(await keys(null, { k: "d", day: "2024-02-30" })).toEqual(["a", "b", "c"]);
    expect(await keys("2024-01-02T12:00:00Z", { k: "b", day: "2024-01-02" })).toEqual(["c"]);
    expect(await keys("2024-01-02T00:00:00Z", { k: "b", day: "2024-01-02" })).toEqual(["c"]);
    expect(await storage.rows.countSince(days, "2024-01-02T00:00:00Z")).toBe(2);
  });
}

function keyTests(harness: StoreHarness<RowParts>): void {
  const it = storeTests(harness);

  it("D-4.6 readByKeys() finds rows by their whole key, and nothing for unknown keys", async (storage) => {
    await prepared(storage, PLAIN, [
      { shop: "a", number: "1", note: "a1" },
      { shop: "a", number: "2", note: "a2" },
      { shop: "b", number: "1", note: "b1" },
    ]);
    const found = async (...keys: Row[]) =>
      (await storage.rows.readByKeys(PLAIN, keys)).map((row) => row["note"]).toSorted();
    expect(await found()).toEqual([]);
    expect(await found({ number: "1", shop: "a" })).toEqual(["a1"]);
    expect(await found({ shop: "b", number: "1", note: "other" })).toEqual(["b1"]);
    expect(
      await found(
        { shop: "b", number: "1" },
        { shop: "b", number: "2" },
        { shop: "a", number: "1" },
        { shop: "b", number: "1" },
        { shop: "A", number: "1" },
        { shop: "a" },
        {},
      ),
    ).toEqual(["a1", "b1"]);
  });

  it("D-4.6 readByKeys() takes thousands of keys, each row once", async (storage) => {
    const row = (n: number) => ({ shop: `shop ${n % 7}`, number: String(n), note: null });
    const rows = Array.from({ length: 5_000 }, (_, n) => row(n));
    await prepared(storage, PLAIN, rows);
    const keys = Array.from({ length: 6_000 }, (_, n) => row(n * 2));
    const found = await storage.rows.readByKeys(PLAIN, [
      ...keys,
      ...keys.slice(0, 500).map((key) => ({ ...key })),
    ]);
    const numbers = found.map((one) => Number(one["number"])).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, n) => n * 2));
  });

  it("D-4.6 readByKeys() tells keys apart that look alike", async (storage) => {
    const keys = ["1", 1, rawNumber("1.0"), true, "true", "a", "A", "a ", "\u00e9", "e\u0301", ""];
    const table = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
    await prepared(
      storage,
      table,
      keys.map((k) => ({ k })),
    );
    for (const k of keys) {
      const rows = await storage.rows.readByKeys(table, [{ k }]);
      expect(JSON.stringify(rows)).toBe(JSON.stringify([{ k }]));
    }
  });
}

function rangeTests(harness: StoreHarness<RowParts>): void {
  const it = storeTests(harness);

  it("D-4.10 readKeyRange() reads in key order, whatever the timestamps, first key out, last key in", async (storage) => {
    await prepared(
      storage,
      EVENTS,
      ["e", "c", "a", "d", "b"].map((name, n) => ({
        name,
        at: n === 2 ? null : `2024-01-01T00:00:0${n}Z`,
      })),
    );
    const range = async (after: string | null, through: string | null, limitRows = 100) => {
      const keyOf = (name: string | null) => (name === null ? null : { name });
      const bounds = { afterKey: keyOf(after), throughKey: keyOf(through) };
      const rows = await storage.rows.readKeyRange(EVENTS, bounds, limitRows);
      return rows.map((row) => row["name"]).join("");
    };
    expect(await range(null, null)).toBe("abcde");
    expect(await range("b", null)).toBe("cde");
    expect(await range(null, "c")).toBe("abc");
    expect(await range("a", "d")).toBe("bcd");
    expect(await range("aa", "cc")).toBe("bc");
    expect(await range("a", "d", 2)).toBe("bc");
    expect(await range(null, null, 1)).toBe("a");
    expect(await range("c", "c")).toBe("");
    expect(await range("d", "a")).toBe("");
    expect(await range("e", null)).toBe("");
  });

  it("D-4.10 readKeyRange() compares several key columns in upsert_key order", async (storage) => {
    await prepared(
      storage,
      PLAIN,
      ["a", "b", "c"].flatMap((shop) =>
        ["9", "10"].map((number) => ({ shop, number, note: shop + number })),
      ),
    );
    const bounds = {
      afterKey: { shop: "a", number: "9" },
      throughKey: { shop: "c", number: "9", note: "x" },
    };
    const rows = await storage.rows.readKeyRange(PLAIN, bounds, 100);
    expect(rows.map((row) => row["note"])).toEqual(["a10", "b9", "b10", "c9"]);
  });
}

function visibilityTests(harness: StoreHarness<RowParts>): void {
  const it = storeTests(harness);

  it("D-4.6 every read sees the writes acknowledged before it", async (storage, store) => {
    await storage.tables.prepare([EVENTS]);
    const other = harness.options.isShared ? await openSecond(store) : storage;
    for (let n = 0; n < 10; n++) {
      const [here, there] = n % 2 ? [storage, other] : [other, storage];
      await write(here, EVENTS, [{ name: `${n}`, at: `2024-01-01T00:00:0${n}Z` }]);
      expect(await names(there, { limitRows: 100 })).toHaveLength(n + 1);
      expect(await there.rows.countSince(EVENTS, "2024-01-01T00:00:00Z")).toBe(n + 1);
      expect(await there.rows.readByKeys(EVENTS, [{ name: `${n}` }])).toHaveLength(1);
      const range = { afterKey: { name: `${n - 1}` }, throughKey: null };
      expect((await there.rows.readKeyRange(EVENTS, range, 9)).at(-1)?.["name"]).toBe(`${n}`);
    }
  });

  if (!harness.options.isShared) return;

  it("D-4.6 no read holds a part of a write", async (storage, store) => {
    await storage.tables.prepare([EVENTS]);
    const other = await openSecond(store);
    const keys = Array.from({ length: 400 }, (_, n) => ({ name: String(n).padStart(3, "0") }));
    let isWriting = true;
    const writing = (async () => {
      for (let n = 0; n < 20; n++) {
        await write(
          storage,
          EVENTS,
          keys.map((key) => ({ ...key, at: `2024-01-01T00:00:${10 + n}Z` })),
        );
      }
      isWriting = false;
    })();
    do {
      const reads = [
        await other.rows.readAfter(EVENTS, { after: null, sinceTime: null, limitRows: 400 }),
        await other.rows.readByKeys(EVENTS, keys),
        await other.rows.readKeyRange(EVENTS, { afterKey: null, throughKey: null }, 400),
      ];
      for (const rows of reads) {
        expect(new Set(rows.map(({ at }) => at)).size).toBe(rows.length === 0 ? 0 : 1);
      }
    } while (isWriting);
    await writing;
  });
}

async function prepared(storage: RowParts, table: Table, rows: readonly Row[]): Promise<void> {
  await storage.tables.prepare([table]);
  await write(storage, table, rows);
}

async function write(storage: RowParts, table: Table, rows: readonly Row[]): Promise<void> {
  expect((await writeTo(storage, table, asWrites(rows))).failures).toEqual([]);
}

/** Names of the events that `readAfter()` gives. */
async function names(
  storage: RowParts,
  query: Partial<Parameters<RowParts["rows"]["readAfter"]>[1]>,
): Promise<ColumnValue[]> {
  const everything = { after: null, sinceTime: null, limitRows: 100 };
  const rows = await storage.rows.readAfter(EVENTS, { ...everything, ...query });
  return rows.map((row) => row["name"] ?? null);
}

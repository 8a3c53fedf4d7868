import { describe, expect } from "bun:test";
import { rawNumber } from "../../../../src/domain/shared/json.ts";
import type { ColumnType } from "../../../../src/domain/sync/table/column-types.ts";
import type { ColumnValue, Row } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows, heldValues } from "../../held-values.ts";
import { TableUnderTest } from "../table-under-test.ts";
import { DAYS, EVENTS, type ReadingParts, readInOrder } from "./reading-ways.ts";

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

/** The order of a table, in every way in which it is read. D-3.1. */
export function readingOrderTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: order of rows`, () => {
    for (const [name, all] of Object.entries(ORDERED_KEYS)) {
      const type = name as ColumnType;
      const keys = heldValues(harness, type, all, true);
      it(`D-3.1, D-3.1.4 page() orders ${type} keys by value, others after them by their JSON text`, async (storage) => {
        const entry = { upsert_key: ["k"], columns: { k: { type } } };
        const definition = makeTable(entry);
        const table = await TableUnderTest.prepare(storage, definition);
        await table.write(...keys.map((k) => ({ k })).reverse());
        expect(columnOf(await readInOrder(storage, definition), "k")).toEqual([...keys]);
      });
    }

    it("D-3.1 page() orders by timestamp, ties by key, nulls and unparseable ones first by key", async (storage) => {
      const table = await TableUnderTest.prepare(storage, EVENTS);
      const rows: Row[] = [
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
      ];
      await table.write(...heldRows(harness, EVENTS, rows));
      expect(columnOf(await readInOrder(storage, EVENTS), "name")).toEqual([
        "t",
        "u",
        "v",
        "w",
        "x",
        "y",
        "z",
        "b",
        "c",
        "a",
      ]);
    });

    it("D-3.1 page() orders by a date timestamp, nulls and unparseable ones first", async (storage) => {
      const table = await TableUnderTest.prepare(storage, DAYS);
      const rows: Row[] = [
        { name: "d", day: "2024-01-02" },
        { name: "c", day: "2024-01-10" },
        { name: "b", day: "2024-13-01" },
        { name: "e", day: null },
        { name: "a", day: "2024-01-02" },
      ];
      await table.write(...heldRows(harness, DAYS, rows));
      expect(columnOf(await readInOrder(storage, DAYS), "name")).toEqual(["b", "e", "a", "d", "c"]);
    });

    it("D-3.1 page() orders by several key columns in upsert_key order", async (storage) => {
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
      expect(
        (await readInOrder(storage, definition)).map((row) => [row["second"], row["first"]]),
      ).toEqual([
        [-1, "z"],
        [1, "a"],
        [1, "b"],
        [1, "é"],
        [2, "a"],
      ]);
    });

    it("D-3.1 page() gives an updated row its new place", async (storage) => {
      const table = await TableUnderTest.prepare(storage, EVENTS);
      await table.write(
        { name: "a", at: "2024-01-01T00:00:00Z" },
        { name: "b", at: "2024-01-02T00:00:00Z" },
        { name: "c", at: null },
      );
      const moved = [
        { name: "a", at: "2024-01-03T00:00:00Z" },
        { name: "b", at: "later" },
      ];
      await table.write(...heldRows(harness, EVENTS, moved));
      expect(columnOf(await readInOrder(storage, EVENTS), "name")).toEqual(["b", "c", "a"]);
    });
  });
}

function columnOf(rows: readonly Row[], name: string): ColumnValue[] {
  return rows.map((row) => row[name] ?? null);
}

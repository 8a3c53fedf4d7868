import { describe, expect } from "bun:test";
import type { ColumnValue } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { TableUnderTest } from "../table-under-test.ts";
import { EVENTS, type ReadingParts } from "./reading-ways.ts";

const PLAIN = makeTable(
  { upsert_key: ["name"], columns: { name: { type: "text" }, note: { type: "text" } } },
  "plain",
);

/** Pages at offsets, and totals. */
export function readingOffsetTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: pages at offsets`, () => {
    it("D-3.4 page() cuts at offset and limit, and counts every row that matches", async (storage) => {
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

    it("D-3.4 page() of an empty table has no rows and total 0", async (storage) => {
      for (const definition of [EVENTS, PLAIN]) {
        const table = await TableUnderTest.prepare(storage, definition);
        expect(await table.page()).toEqual({ rows: [], totalRows: 0 });
        expect(await table.count()).toBe(0);
      }
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
        expect(await inPages(table, { sinceTime: "2024-01-01T00:00:03Z", limitRows })).toEqual(
          later,
        );
      }
    });
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

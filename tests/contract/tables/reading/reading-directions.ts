import { describe, expect } from "bun:test";
import type { RowOrder } from "../../../../src/domain/sync/by-hand/shown-rows.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import { openSecond, type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import { compareRowKeys } from "../table-model.ts";
import { TableUnderTest } from "../table-under-test.ts";
import { BY_TIME, timedRows } from "./reading-cursors.ts";
import { DAYS, PLAIN, type ReadingParts, walk } from "./reading-ways.ts";

const BACKWARDS = { order: "-time", from: { cursor: null } } as const;

/** The rows of a table by an order, of those in the order of the table. */
function ordered(table: Table, rows: readonly Row[], order: RowOrder): Row[] {
  const by = order.endsWith("key")
    ? rows.toSorted((a, b) => compareRowKeys(table, a, b))
    : [...rows];
  return order.startsWith("-") ? by.reverse() : by;
}

/** Pages at cursors by the key or the time, from either end. */
export function readingDirectionTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: pages in an order`, () => {
    for (const order of ["key", "-key", "time", "-time"] as const) {
      it(`D-14.5 page() by ${order} leafs through all rows, whatever the size of a part`, async (storage) => {
        const table = await TableUnderTest.prepare(storage, BY_TIME);
        await table.write(...heldRows(harness, BY_TIME, timedRows()));
        const expected = ordered(BY_TIME, await table.rows(), order);
        for (const query of [
          { limitRows: 1 },
          { limitRows: 7 },
          { limitRows: 100 },
          { limitRows: 5, maxJsonBytes: 10 },
        ]) {
          const rows = await walk(storage.tables, BY_TIME, "cursor", { ...query, order });
          expect(JSON.stringify(rows)).toBe(JSON.stringify(expected));
        }
        const first = await storage.tables.page(BY_TIME, {
          ...{ from: { cursor: null }, order, limitRows: 2, hasTotal: true },
        });
        expect(first.totalRows).toBe(expected.length);
      });

      it(`D-14.5 page() by ${order} leafs through a table without timestamps by its key`, async (storage) => {
        const table = await TableUnderTest.prepare(storage, PLAIN);
        const rows = ["b", "a", "é", ""].flatMap((shop) =>
          ["10", "9", "-9223372036854775807"].map((number) => ({ shop, number, note: null })),
        );
        await table.write(...rows);
        const expected = ordered(PLAIN, await table.rows(), order);
        expect(await walk(storage.tables, PLAIN, "cursor", { order })).toEqual(expected);
      });
    }

    it("D-14.5 page() from the end takes the rows since a time, and ends there", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      await table.write(...heldRows(harness, BY_TIME, timedRows()));
      const sinceTime = "2026-01-01T00:00:00Z";
      const rows = await table.rows({ sinceTime });
      const query = { sinceTime, order: "-time" } as const;
      for (const limitRows of [1, 5, 100]) {
        const walked = await walk(storage.tables, BY_TIME, "cursor", { ...query, limitRows });
        expect(walked).toEqual(rows.toReversed());
      }
      const before = { ...BACKWARDS, limitRows: rows.length + 1 };
      const { cursor } = await storage.tables.page(BY_TIME, before);
      const rest = await storage.tables.page(BY_TIME, {
        ...{ ...query, from: { cursor }, limitRows: 9, hasTotal: true },
      });
      expect(rest).toEqual({ rows: [], totalRows: rows.length, cursor: null });
    });

    it("D-14.5 page() from the end goes by days, unparseable and absent ones last", async (storage) => {
      const table = await TableUnderTest.prepare(storage, DAYS);
      const days = [null, "soon", "2026-01-02", "2026-01-02", "2026-01-10"];
      const all = days.map((day, i) => ({ name: `n${i}`, day }));
      await table.write(...heldRows(harness, DAYS, all));
      const rows = await walk(storage.tables, DAYS, "cursor", { order: "-time", limitRows: 1 });
      expect(rows.map(({ name }) => name)).toEqual(["n4", "n3", "n2", "n1", "n0"]);
      const since = { order: "-time", sinceTime: "2026-01-02T00:00:00Z" } as const;
      const later = await walk(storage.tables, DAYS, "cursor", { ...since, limitRows: 1 });
      expect(later.map(({ name }) => name)).toEqual(["n4", "n3", "n2"]);
    });

    it("D-14.5 page() from the end goes on where it was though rows have come and moved meanwhile", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      const row = (shop: string, second: number) => ({
        ...{ shop, n: "1", secret: null },
        at: `2026-01-01T00:00:0${second}Z`,
      });
      await table.write(...["a", "b", "c", "d", "e"].map((shop, i) => row(shop, i)));
      const first = await storage.tables.page(BY_TIME, { ...BACKWARDS, limitRows: 2 });
      await table.write(row("new", 8), row("d", 9), row("old", 0));
      const from = { cursor: first.cursor };
      const second = await storage.tables.page(BY_TIME, { ...BACKWARDS, from, limitRows: 9 });
      expect(first.rows.map(({ shop }) => shop)).toEqual(["e", "d"]);
      expect(second.rows.map(({ shop }) => shop)).toEqual(["c", "b", "old", "a"]);
      expect(second.cursor).toBeNull();
    });

    it("D-14.5 page() by the key refuses a cursor of the order of the table, and the other way round", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      const short = timedRows().filter(({ shop }) => String(shop).length < 100);
      await table.write(...heldRows(harness, BY_TIME, short));
      const at = async (order: RowOrder, cursor: string | null) =>
        await storage.tables.page(BY_TIME, { order, from: { cursor }, limitRows: 4 });
      for (const [order, other] of [
        ["key", "time"],
        ["-time", "-key"],
      ] as const) {
        const { cursor } = await at(order, null);
        await expect(at(other, cursor)).rejects.toMatchObject({ kind: "invalid_request" });
      }
    });

    if (!harness.options.isShared) return;

    it("D-14.5 a cursor from the end is good on another instance", async (storage, store) => {
      const other = await openSecond(store);
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      await other.tables.prepare([BY_TIME]);
      await table.write(...heldRows(harness, BY_TIME, timedRows()));
      const all = (await table.rows()).reverse();
      const { cursor } = await storage.tables.page(BY_TIME, { ...BACKWARDS, limitRows: 4 });
      const next = { ...BACKWARDS, from: { cursor }, limitRows: 3 };
      expect((await other.tables.page(BY_TIME, next)).rows).toEqual(all.slice(4, 7));
    });
  });
}

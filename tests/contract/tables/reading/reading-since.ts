import { describe, expect } from "bun:test";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import { readAfter, readPage } from "../../../support/rows/read-rows.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import {
  DAYS,
  EVENTS,
  namesOfEvents,
  prepared,
  type ReadingParts,
  readInOrder,
} from "./reading-ways.ts";

/** Rows at or after a time, and their number. */
export function readingSinceTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: rows since a time`, () => {
    it("S-4.1, D-4.6 pages and count() have the rows at or after sinceTime, to the microsecond", async (storage) => {
      const rows = [
        { name: "1", at: "2024-01-01T00:00:00Z" },
        { name: "2", at: "2024-01-01T00:00:00.000001Z" },
        { name: "3", at: "2024-01-01T00:00:00.001Z" },
        { name: "4", at: "2024-01-01T00:00:00.001001Z" },
        { name: "5", at: "2024-01-01T00:00:01Z" },
        { name: "6", at: null },
        { name: "7", at: "not a time" },
      ];
      await prepared(storage, EVENTS, heldRows(harness, EVENTS, rows));
      const since = (sinceTime: string) => namesSince(storage, EVENTS, sinceTime);
      expect(await since("2023-01-01T00:00:00Z")).toEqual(["1", "2", "3", "4", "5"]);
      expect(await since("2024-01-01T00:00:00Z")).toEqual(["1", "2", "3", "4", "5"]);
      expect(await since("2024-01-01T00:00:00.000001Z")).toEqual(["2", "3", "4", "5"]);
      expect(await since("2024-01-01T00:00:00.000002Z")).toEqual(["3", "4", "5"]);
      expect(await since("2024-01-01T00:00:00.001Z")).toEqual(["3", "4", "5"]);
      expect(await since("2024-01-01T00:00:00.001001Z")).toEqual(["4", "5"]);
      expect(await since("2024-01-01T00:00:00.002Z")).toEqual(["5"]);
      expect(await since("2024-01-01T00:00:01Z")).toEqual(["5"]);
      expect(await since("2024-01-01T00:00:01.000001Z")).toEqual([]);
      expect(await since("0001-01-01T00:00:00Z")).toEqual(["1", "2", "3", "4", "5"]);
    });

    it("S-4.1, D-4.6 pages and count() take a date timestamp for midnight", async (storage) => {
      const rows = [
        { name: "1", day: "2024-01-01" },
        { name: "2", day: "2024-01-02" },
        { name: "3", day: "2024-01-03" },
        { name: "4", day: null },
        { name: "5", day: "2024-02-30" },
      ];
      await prepared(storage, DAYS, heldRows(harness, DAYS, rows));
      const since = (sinceTime: string) => namesSince(storage, DAYS, sinceTime);
      expect(await since("2024-01-02T00:00:00Z")).toEqual(["2", "3"]);
      expect(await since("2024-01-02T00:00:00.000001Z")).toEqual(["3"]);
      expect(await since("2024-01-01T23:59:59.999999Z")).toEqual(["2", "3"]);
      expect(await since("2024-01-03T12:00:00Z")).toEqual([]);
      expect(await since("9999-12-31T12:00:00Z")).toEqual([]);
      const second = { after: { name: "2", day: "2024-01-02" }, limitRows: 9 };
      for (const sinceTime of ["2024-01-02T00:00:00Z", "2024-01-02T12:00:00Z"]) {
        const behind = await readAfter(storage.tables, DAYS, { ...second, sinceTime });
        expect(behind.map(({ name }) => name)).toEqual(["3"]);
      }
    });

    it("D-4.6 page() after a row begins at the later of position and sinceTime", async (storage) => {
      const at = (second: number) => `2024-01-01T00:00:0${second}Z`;
      await prepared(
        storage,
        EVENTS,
        [1, 2, 3, 4, 5].map((n) => ({ name: `${n}`, at: at(n) })),
      );
      const read = (after: Row, sinceTime: string) => namesOfEvents(storage, { after, sinceTime });
      expect(await read({ name: "1", at: at(1) }, at(3))).toEqual(["3", "4", "5"]);
      expect(await read({ name: "9", at: null }, at(3))).toEqual(["3", "4", "5"]);
      expect(await read({ name: "3", at: at(3) }, at(3))).toEqual(["4", "5"]);
      expect(await read({ name: "", at: at(3) }, at(3))).toEqual(["3", "4", "5"]);
      expect(await read({ name: "4", at: at(4) }, at(3))).toEqual(["5"]);
    });
  });
}

/** Names of the rows since a time: the same at offsets, at cursors and after positions, in totals and counts. */
async function namesSince(
  { tables }: ReadingParts,
  table: Table,
  sinceTime: string,
): Promise<unknown[]> {
  const rows = await readInOrder({ tables }, table, { sinceTime });
  const { totalRows } = await readPage(tables, table, { sinceTime, offsetRows: 0, limitRows: 1 });
  const counted = await tables.count(table, { sinceTime, hasKey: true });
  expect([totalRows, counted]).toEqual([rows.length, rows.length]);
  return rows.map(({ name }) => name);
}

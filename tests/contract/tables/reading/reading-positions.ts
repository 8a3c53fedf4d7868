import { describe, expect } from "bun:test";
import type { ColumnValue, Row } from "../../../../src/domain/sync/table/table.ts";
import { readAfter } from "../../../support/rows/read-rows.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import {
  EVENTS,
  namesOfEvents,
  PLAIN,
  prepared,
  type ReadingParts,
  write,
} from "./reading-ways.ts";

/** Pages after a row. */
export function readingPositionTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: pages after a row`, () => {
    it("D-4.6 page() after a row reads on in the order of the table, ties by key, nulls first", async (storage) => {
      const rows = [
        { name: "c", at: "2024-01-01T00:00:00Z" },
        { name: "b", at: "2024-01-01T00:00:00Z" },
        { name: "a", at: "2024-01-01T00:00:00.000001Z" },
        { name: "z", at: null },
        { name: "y", at: "not a time" },
        { name: "d", at: "2023-12-31T23:59:59.999999Z" },
      ];
      await prepared(storage, EVENTS, heldRows(harness, EVENTS, rows));
      const everything = ["y", "z", "d", "b", "c", "a"];
      expect(await namesOfEvents(storage, {})).toEqual(everything);
      expect(await namesOfEvents(storage, { limitRows: 2 })).toEqual(["y", "z"]);
      const after = (name: string, at: ColumnValue) =>
        namesOfEvents(storage, { after: { name, at } });
      expect(await after("y", "not a time")).toEqual(everything.slice(1));
      expect(await after("z", null)).toEqual(everything.slice(2));
      expect(await after("d", "2023-12-31T23:59:59.999999Z")).toEqual(everything.slice(3));
      expect(await after("b", "2024-01-01T00:00:00Z")).toEqual(everything.slice(4));
      expect(await after("a", "2024-01-01T00:00:00.000001Z")).toEqual([]);
    });

    it("D-4.6 page() after a row takes any position, also one where no row is", async (storage) => {
      await prepared(storage, EVENTS, [
        { name: "b", at: "2024-01-01T00:00:00Z" },
        { name: "d", at: "2024-01-01T00:00:00Z" },
        { name: "a", at: "2024-01-01T00:00:01Z" },
      ]);
      const after = (name: string, at: ColumnValue) =>
        namesOfEvents(storage, { after: { name, at } });
      expect(await after("c", null)).toEqual(["b", "d", "a"]);
      expect(await after("", "2024-01-01T00:00:00Z")).toEqual(["b", "d", "a"]);
      expect(await after("c", "2024-01-01T00:00:00Z")).toEqual(["d", "a"]);
      expect(await after("z", "2024-01-01T00:00:00.999Z")).toEqual(["a"]);
      expect(await after("a", "9999-01-01T00:00:00Z")).toEqual([]);
    });

    it("D-4.6 page() after a row meets a row again that moved behind the place it was read from", async (storage) => {
      await prepared(storage, EVENTS, [
        { name: "a", at: "2024-01-01T00:00:00Z" },
        { name: "b", at: "2024-01-01T00:00:01Z" },
        { name: "c", at: "2024-01-01T00:00:02Z" },
      ]);
      const query = { after: null, sinceTime: null, limitRows: 2 };
      const [, last] = await readAfter(storage.tables, EVENTS, query);
      await write(storage, EVENTS, [{ name: "b", at: "2024-01-01T00:00:03Z" }]);
      expect(await namesOfEvents(storage, { after: last! })).toEqual(["c", "b"]);
      await write(storage, EVENTS, [{ name: "b", at: null }]);
      expect(await namesOfEvents(storage, { after: last! })).toEqual(["c"]);
    });

    it("D-4.6 page() after a row reads tables without a timestamp by key, several columns in key order", async (storage) => {
      await prepared(storage, PLAIN, [
        { shop: "b", number: "10", note: "4" },
        { shop: "a", number: "9", note: "2" },
        { shop: "b", number: "-1", note: "3" },
        { shop: "a", number: "-9007199254740993", note: "1" },
        { shop: "é", number: "0", note: "5" },
      ]);
      const notes = async (after: Row | null, limitRows = 100) => {
        const query = { after, sinceTime: "2024-01-01T00:00:00Z", limitRows };
        return (await readAfter(storage.tables, PLAIN, query)).map((row) => row["note"]);
      };
      expect(await notes(null)).toEqual(["1", "2", "3", "4", "5"]);
      expect(await notes({ shop: "a", number: "9" }, 2)).toEqual(["3", "4"]);
      expect(await notes({ shop: "a", number: "-9007199254740994" })).toHaveLength(5);
      expect(await notes({ shop: "b", number: "9" })).toEqual(["4", "5"]);
      expect(
        await storage.tables.count(PLAIN, { sinceTime: "2024-01-01T00:00:00Z", hasKey: true }),
      ).toBe(5);
    });
  });
}

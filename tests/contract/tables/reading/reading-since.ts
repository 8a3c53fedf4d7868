import { describe, expect } from "bun:test";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter } from "../../../support/rows/read-rows.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import { TableUnderTest } from "../table-under-test.ts";
import { DAYS, EVENTS, namesOfEvents, prepared, type ReadingParts } from "./reading-ways.ts";

/** Rows at or after a time, and their number. */
export function readingSinceTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: rows since a time`, () => {
    it("S-4.1 page() gives rows at or after sinceTime, to the microsecond", async (storage) => {
      const table = await TableUnderTest.prepare(storage, EVENTS);
      const rows = [
        { name: "1", at: "2024-01-01T00:00:00Z" },
        { name: "2", at: "2024-01-01T00:00:00.000001Z" },
        { name: "3", at: "2024-01-01T00:00:00.001Z" },
        { name: "4", at: "2024-01-01T00:00:00.001001Z" },
        { name: "5", at: "2024-01-01T00:00:01Z" },
        { name: "6", at: null },
        { name: "7", at: "not a time" },
      ];
      await table.write(...heldRows(harness, EVENTS, rows));
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

    it("S-4.1 page() takes a date timestamp for midnight", async (storage) => {
      const table = await TableUnderTest.prepare(storage, DAYS);
      const rows = [
        { name: "1", day: "2024-01-01" },
        { name: "2", day: "2024-01-02" },
        { name: "3", day: "2024-01-03" },
        { name: "4", day: null },
        { name: "5", day: "2024-02-30" },
      ];
      await table.write(...heldRows(harness, DAYS, rows));
      const since = (sinceTime: string) => table.column("name", { sinceTime });
      expect(await since("2024-01-02T00:00:00Z")).toEqual(["2", "3"]);
      expect(await since("2024-01-02T00:00:00.000001Z")).toEqual(["3"]);
      expect(await since("2024-01-01T23:59:59.999999Z")).toEqual(["2", "3"]);
      expect(await since("2024-01-03T12:00:00Z")).toEqual([]);
      expect(await since("9999-12-31T12:00:00Z")).toEqual([]);
    });

    it("D-4.6 page() and count() take rows at or after sinceTime", async (storage) => {
      const rows = [
        { name: "a", at: null },
        { name: "b", at: "soon" },
        { name: "c", at: "2024-01-01T00:00:00Z" },
        { name: "d", at: "2024-01-01T00:00:00.000001Z" },
        { name: "e", at: "2024-01-01T00:00:01Z" },
      ];
      await prepared(storage, EVENTS, heldRows(harness, EVENTS, rows));
      const from = async (sinceTime: string | null) => {
        const found = await namesOfEvents(storage, { sinceTime });
        expect(await storage.tables.count(EVENTS, { sinceTime: sinceTime, hasKey: true })).toBe(
          found.length,
        );
        return found.join("");
      };
      expect(await from(null)).toBe("abcde");
      expect(await from("0001-01-01T00:00:00Z")).toBe("cde");
      expect(await from("2024-01-01T00:00:00Z")).toBe("cde");
      expect(await from("2024-01-01T00:00:00.000001Z")).toBe("de");
      expect(await from("2024-01-01T00:00:00.000002Z")).toBe("e");
      expect(await from("2024-01-01T00:00:01.001Z")).toBe("");
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

    it("D-4.6 a date timestamp is midnight", async (storage) => {
      const days = makeTable({
        timestamp_column: "day",
        upsert_key: ["k"],
        columns: { k: { type: "text" }, day: { type: "date" } },
      });
      const rows = [
        { k: "a", day: "2024-01-01" },
        { k: "b", day: "2024-01-02" },
        { k: "c", day: "2024-01-03" },
        { k: "d", day: "2024-02-30" },
      ];
      await prepared(storage, days, heldRows(harness, days, rows));
      const keys = async (sinceTime: string | null, after: Row | null = null) => {
        const found = await readAfter(storage.tables, days, { after, sinceTime, limitRows: 9 });
        return found.map((row) => row["k"]);
      };
      expect(await keys("2024-01-02T00:00:00Z")).toEqual(["b", "c"]);
      expect(await keys("2024-01-02T00:00:00.000001Z")).toEqual(["c"]);
      expect(await keys(null, { k: "d", day: "2024-02-30" })).toEqual(["a", "b", "c"]);
      expect(await keys("2024-01-02T12:00:00Z", { k: "b", day: "2024-01-02" })).toEqual(["c"]);
      expect(await keys("2024-01-02T00:00:00Z", { k: "b", day: "2024-01-02" })).toEqual(["c"]);
      expect(
        await storage.tables.count(days, { sinceTime: "2024-01-02T00:00:00Z", hasKey: true }),
      ).toBe(2);
    });
  });
}

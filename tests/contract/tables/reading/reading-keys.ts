import { describe, expect } from "bun:test";
import { rawNumber } from "../../../../src/domain/shared/json.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readKeyRange } from "../../../support/rows/read-rows.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { heldValues } from "../../held-values.ts";
import { EVENTS, PLAIN, prepared, type ReadingParts } from "./reading-ways.ts";

/** Rows by key, and pages in ranges of keys. */
export function readingKeyTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: rows by key`, () => {
    it("D-4.6 byKeys() finds rows by their whole key, and nothing for unknown keys", async (storage) => {
      await prepared(storage, PLAIN, [
        { shop: "a", number: "1", note: "a1" },
        { shop: "a", number: "2", note: "a2" },
        { shop: "b", number: "1", note: "b1" },
      ]);
      const found = async (...keys: Row[]) =>
        (await storage.tables.byKeys(PLAIN, keys, "sent")).map((row) => row["note"]).toSorted();
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

    it("D-4.6 byKeys() takes thousands of keys, each row once", async (storage) => {
      const row = (n: number) => ({ shop: `shop ${n % 7}`, number: String(n), note: null });
      const rows = Array.from({ length: 5_000 }, (_, n) => row(n));
      await prepared(storage, PLAIN, rows);
      const keys = Array.from({ length: 6_000 }, (_, n) => row(n * 2));
      const found = await storage.tables.byKeys(
        PLAIN,
        [...keys, ...keys.slice(0, 500).map((key) => ({ ...key }))],
        "sent",
      );
      const numbers = found.map((one) => Number(one["number"])).sort((a, b) => a - b);
      expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, n) => n * 2));
    });

    it("D-4.6 byKeys() tells keys apart that look alike", async (storage) => {
      const all = ["1", 1, rawNumber("1.0"), true, "true", "a", "A", "a ", "\u00e9", "e\u0301", ""];
      const keys = heldValues(harness, "text", all);
      const table = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
      await prepared(
        storage,
        table,
        keys.map((k) => ({ k })),
      );
      for (const k of keys) {
        const rows = await storage.tables.byKeys(table, [{ k }], "sent");
        expect(JSON.stringify(rows)).toBe(JSON.stringify([{ k }]));
      }
    });

    it("D-4.10 page() in a range of keys reads in key order, whatever the timestamps, first key out, last key in", async (storage) => {
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
        const rows = await readKeyRange(storage.tables, EVENTS, bounds, limitRows);
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
      const from = { afterKey: { name: "a" }, throughKey: null };
      const since = { sinceTime: "2024-01-01T00:00:09Z", limitRows: 2 };
      const { rows, cursor } = await storage.tables.page(EVENTS, { from, ...since });
      expect([rows.map(({ name }) => name), cursor]).toEqual([["b", "c"], null]);
      const byKey = { from: { cursor: null }, order: "key", ...since } as const;
      const first = await storage.tables.page(EVENTS, byKey);
      expect(first.rows.map(({ name }) => name)).toEqual(["a", "b"]);
    });

    it("D-4.10 page() in a range of keys compares several key columns in upsert_key order", async (storage) => {
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
      const rows = await readKeyRange(storage.tables, PLAIN, bounds, 100);
      expect(rows.map((row) => row["note"])).toEqual(["a10", "b9", "b10", "c9"]);
    });
  });
}

import { describe, expect } from "bun:test";
import { rawNumber } from "../../../../src/domain/shared/json.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import type { TableStore } from "../../../../src/ports/tables/table-store.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { openSecond, type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import { TableUnderTest } from "../table-under-test.ts";
import { type ReadingParts, walk } from "./reading-ways.ts";

export const BY_TIME = makeTable({
  timestamp_column: "at",
  upsert_key: ["shop", "n"],
  columns: {
    id: { type: "integer", auto_increment: true },
    shop: { type: "text" },
    n: { type: "bigint" },
    at: { type: "datetime" },
    secret: { type: "text", serialize: false },
  },
});

const BY_KEY = makeTable({
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "json" } },
});

/** Which rows of a table a part of it holds. */
interface PartQuery {
  readonly sinceTime?: string;
  readonly cursor?: string | null;
  readonly limitRows?: number;
  readonly maxJsonBytes?: number;
}

const part = (tables: TableStore, table: Table, { cursor = null, ...query }: PartQuery = {}) =>
  tables.page(table, {
    ...{ from: { cursor }, limitRows: 3, maxJsonBytes: 1_000_000, ...query },
    hasTotal: true,
  });

/** Rows with equal, absent, unparseable and different times, and keys that are hard to tell. */
export function timedRows(): Row[] {
  const times = [null, "no time", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000001Z"];
  const shops = ["", "a", "a\u0000b", "é😀", "x".repeat(5_000), "y".repeat(5_000)];
  return times.flatMap((at, i) =>
    shops.flatMap((shop) =>
      ["-9223372036854775807", "7", "9007199254740993"].map((n) => ({
        shop: `${shop}${i || ""}`,
        n,
        at,
        secret: "s",
      })),
    ),
  ) as Row[];
}

/** Pages at cursors. */
export function readingCursorTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: pages at cursors`, () => {
    it("D-9.5.3 page() at a cursor leafs through all rows in the order of pages, whatever the size of a part", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      await table.write(...heldRows(harness, BY_TIME, timedRows()));
      const { rows: all, totalRows } = await table.page();
      expect(all[0]).not.toHaveProperty("secret");
      for (const limitRows of [1, 7, 100]) {
        expect(await walk(storage.tables, BY_TIME, "cursor", { limitRows })).toEqual(all);
      }
      expect((await part(storage.tables, BY_TIME)).totalRows).toBe(totalRows);
      const small = { maxJsonBytes: 10, limitRows: 5 };
      expect((await part(storage.tables, BY_TIME, small)).rows).toHaveLength(1);
      expect(await walk(storage.tables, BY_TIME, "cursor", small)).toEqual(all);
    });

    it("D-9.5.3 page() at a cursor leafs through a table without timestamps", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_KEY);
      const keys = ["", "a", 5, "b", "\u0000", rawNumber("1.10"), true, "z".repeat(20_000), "zz"];
      const all = keys.map((k) => ({ k, v: { deep: [rawNumber("9007199254740993")] } }));
      const rows = heldRows(harness, BY_KEY, all);
      await table.write(...rows);
      expect(await walk(storage.tables, BY_KEY, "cursor", { limitRows: 2 })).toEqual(
        await table.rows(),
      );
      expect(
        await walk(storage.tables, BY_KEY, "cursor", { sinceTime: "2026-01-01T00:00:00Z" }),
      ).toHaveLength(rows.length);
    });

    it("D-9.5.3 page() at a cursor takes the rows since a time, and the total counts them", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      await table.write(...heldRows(harness, BY_TIME, timedRows()));
      const sinceTime = "2026-01-01T00:00:00Z";
      const rows = await table.rows({ sinceTime });
      expect(await walk(storage.tables, BY_TIME, "cursor", { sinceTime })).toEqual(rows);
      const first = await part(storage.tables, BY_TIME, { limitRows: 1 });
      expect(first.totalRows).toBeGreaterThan(rows.length);
      const later = await part(storage.tables, BY_TIME, { sinceTime, cursor: first.cursor });
      expect(later.rows).toEqual(rows.slice(0, 3));
      expect(later.totalRows).toBe(rows.length);
    });

    it("D-9.5.3 page() at a cursor goes on where it was though rows have come and moved meanwhile", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      const at = (second: number) => `2026-01-01T00:00:0${second}Z`;
      const row = (shop: string, second: number) => ({
        shop,
        n: "1",
        at: at(second),
        secret: null,
      });
      await table.write(...["a", "b", "c", "d", "e"].map((shop, i) => row(shop, i)));
      const first = await part(storage.tables, BY_TIME, { limitRows: 2 });
      await table.write(row("new", 0), row("b", 6));
      const second = await part(storage.tables, BY_TIME, { limitRows: 2, cursor: first.cursor });
      expect([...first.rows, ...second.rows].map(({ shop }) => shop)).toEqual(["a", "b", "c", "d"]);
      expect(second.totalRows).toBe(6);
      const third = await part(storage.tables, BY_TIME, { limitRows: 9, cursor: second.cursor });
      expect(third.rows.map(({ shop }) => shop)).toEqual(["e", "b"]);
      expect(third.cursor).toBeNull();
    });

    it("D-9.5.3 page() at a cursor of an empty table is empty, and a cursor that was never given is refused", async (storage) => {
      await storage.tables.prepare([BY_TIME]);
      expect(await part(storage.tables, BY_TIME)).toEqual({ rows: [], totalRows: 0, cursor: null });
      const texts = [
        "x",
        "null",
        "[]",
        "{}",
        "[[1],0]",
        "[null,-1]",
        '{"position":{"a":{"$gt":1}},"skip":0}',
      ];
      const cursors = [
        "x",
        "----",
        ...texts.map((text) => Buffer.from(text).toString("base64url")),
      ];
      for (const cursor of cursors) {
        await expect(part(storage.tables, BY_TIME, { cursor })).rejects.toMatchObject({
          kind: "invalid_request",
        });
      }
    });

    it("D-9.5.3 byKeys() gives rows as pages show them, too", async (storage) => {
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      await table.write(...heldRows(harness, BY_TIME, timedRows()));
      const key = { shop: "é😀", n: "9007199254740993" };
      const wanted = (await table.rows()).filter(({ shop, n }) => shop === key.shop && n === key.n);
      expect(await storage.tables.byKeys(BY_TIME, [key], "page")).toEqual(wanted);
      expect(wanted[0]).toHaveProperty("id");
      expect(await storage.tables.byKeys(BY_TIME, [{ shop: "é😀", n: "1" }], "page")).toEqual([]);
    });

    if (!harness.options.isShared) return;

    it("D-9.5.3 a cursor of one instance is good on another", async (storage, store) => {
      const other = await openSecond(store);
      const table = await TableUnderTest.prepare(storage, BY_TIME);
      await other.tables.prepare([BY_TIME]);
      await table.write(...heldRows(harness, BY_TIME, timedRows()));
      const all = await table.rows();
      const { cursor } = await part(storage.tables, BY_TIME, { limitRows: 4 });
      const second = await part(other.tables, BY_TIME, { limitRows: 3, cursor });
      expect(second.rows).toEqual(all.slice(4, 7));
    });
  });
}

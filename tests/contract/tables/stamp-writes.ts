import { describe, expect } from "bun:test";
import { formatMs } from "../../../src/domain/shared/time.ts";
import { FIRST_STAMP, STAMP_NOW } from "../../../src/domain/sync/rows/row-time.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { readPage } from "../../support/rows/read-rows.ts";
import { GUARD, type WriteToOptions, writeTo } from "../../support/rows/write-to.ts";
import { type OpenedStore, type StoreHarness, storeTests } from "../harness.ts";
import { asWrites } from "./table-under-test.ts";
import { at, behind, type TombstoneParts } from "./tombstones/tombstone-table.ts";

const ENTRY: TableEntry = {
  ...{ timestamp_column: "at", upsert_key: ["k"], stamped: true, deletes: true },
  columns: {
    k: { type: "text" },
    at: { type: "datetime" },
    v: { type: "integer" },
    w: { type: "json" },
  },
};
const ITEMS = makeTable(ENTRY);
const LONG_AGO = "2024-01-02T03:04:05.678901Z";
const STAMPS: WriteToOptions = { stamps: STAMP_NOW };

/** One stamped table of a store. */
class Stamped {
  readonly table: Table;
  readonly #parts: TombstoneParts;
  readonly #store: OpenedStore<TombstoneParts>;

  private constructor(parts: TombstoneParts, store: OpenedStore<TombstoneParts>, table: Table) {
    this.#parts = parts;
    this.#store = store;
    this.table = table;
  }

  static async prepare(
    parts: TombstoneParts,
    store: OpenedStore<TombstoneParts>,
    changes: Partial<TableEntry> = {},
  ): Promise<Stamped> {
    const table = makeTable({ ...ENTRY, ...changes });
    await parts.tables.prepare([table]);
    return new Stamped(parts, store, table);
  }

  write(rows: readonly Row[], options: WriteToOptions = STAMPS) {
    return writeTo(this.#parts, this.table, asWrites(rows), options);
  }

  async row(k: string): Promise<Row | undefined> {
    return (await this.#parts.tables.byKeys(this.table, [{ k }], "sent"))[0];
  }

  async at(k: string): Promise<string> {
    return String((await this.row(k))?.["at"]);
  }

  async remove(k: string): Promise<void> {
    await this.#parts.program.remove(this.table, { k });
  }

  async tombstones(): Promise<readonly unknown[]> {
    const query = { after: null, sinceTime: null, limitRows: 100 };
    return (await this.#parts.tombstones.list(this.table, query)).items.map(({ key }) => key["k"]);
  }

  /** Whether a time lies between a moment before and now. */
  isOfNow(time: string, before: number): boolean {
    return Date.parse(time) >= before && Date.parse(time) <= this.#store.nowMs();
  }
}

/** The times of records that come without one. D-14.2. */
export function stampWriteTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: stamps`, () => {
    it("D-14.2 a record without a time gets one where its row is new or changes, and no other", async (parts, store) => {
      const items = await Stamped.prepare(parts, store);
      const before = store.nowMs();
      await items.write([
        { k: "given", at: LONG_AGO, v: 1 },
        { k: "null", at: null, v: 1 },
        { k: "absent", v: 1 },
      ]);
      expect(await items.at("given")).toBe(LONG_AGO);
      for (const k of ["null", "absent"]) {
        expect(items.isOfNow(await items.at(k), before)).toBe(true);
      }
      const same = await items.write([{ k: "given", at: null, v: 1, w: null }]);
      expect([same.changed, await items.at("given")]).toEqual([0, LONG_AGO]);
      const absent = await items.write([{ k: "given" }]);
      expect([absent.changed, await items.at("given")]).toEqual([0, LONG_AGO]);
      const other = await items.write([{ k: "given", at: null, v: 1, w: { a: [1] } }]);
      expect(other.changed).toBe(1);
      expect(items.isOfNow(await items.at("given"), before)).toBe(true);
      const back = await items.write([{ k: "given", at: LONG_AGO, v: 2 }]);
      expect([back.changed, await items.at("given")]).toEqual([1, LONG_AGO]);
    });

    it("D-14.2 a stamp is 1 µs later than its row where that is up to 5 minutes ahead", async (parts, store) => {
      const items = await Stamped.prepare(parts, store);
      const ahead = `${at(store, 60).slice(0, -1)}999Z`;
      await items.write([
        { k: "ahead", at: ahead, v: 1 },
        { k: "far", at: at(store, 600), v: 1 },
      ]);
      // What a column of the server cannot hold is a failed record there. D-12.1.
      const { failures } = await items.write([{ k: "unreadable", at: "soon", v: 1 }]);
      if (failures.length === 0) expect(await items.at("unreadable")).toBe("soon");
      const before = store.nowMs();
      await items.write(["ahead", "far", "unreadable"].map((k) => ({ k, at: null, v: 2 })));
      expect(await items.at("ahead")).toBe(behind(ahead));
      for (const k of ["far", "unreadable"]) {
        expect(items.isOfNow(await items.at(k), before)).toBe(true);
      }
    });

    it("D-14.2 the same key twice is stamped as if one by one, before the table's rule judges it", async (parts, store) => {
      const items = await Stamped.prepare(parts, store, { conflict: "newer" });
      const ahead = at(store, 60);
      const written = await items.write([
        { k: "a", at: ahead, v: 1 },
        { k: "a", at: null, v: 2 },
        { k: "a", at: null, v: 2 },
        { k: "a", at: LONG_AGO, v: 3 },
        { k: "a", at: null, v: 4 },
      ]);
      expect(written).toMatchObject({ kept: [3], changed: 3, failures: [] });
      expect(await items.row("a")).toMatchObject({ v: 4, at: behind(behind(ahead)) });
    });

    it("D-14.2 a row that comes back is later than its tombstone", async (parts, store) => {
      const items = await Stamped.prepare(parts, store);
      await items.write([{ k: "a", at: at(store, 60), v: 1 }]);
      await items.remove("a");
      expect(await items.tombstones()).toEqual(["a"]);
      await items.write([{ k: "a", v: 2 }]);
      expect(await items.at("a")).toBe(behind(behind(at(store, 60))));
      expect(await items.tombstones()).toEqual([]);
    });

    it("D-14.2.1 a new row of a file has the time of the file, and one that was deleted since stays so", async (parts, store) => {
      const items = await Stamped.prepare(parts, store);
      const fileTime = formatMs(store.nowMs() - 3_600_000);
      const file = { fileTime, restores: false };
      await items.write([
        { k: "here", at: LONG_AGO, v: 1 },
        { k: "deleted", at: LONG_AGO, v: 1 },
      ]);
      await items.remove("deleted");
      const before = store.nowMs();
      const rows = ["here", "new", "deleted"].map((k) => ({ k, at: null, v: 2 }));
      const written = await items.write(
        [...rows, { k: "deleted", at: LONG_AGO, v: 3 }, { k: "later", at: at(store, 30), v: 3 }],
        { stamps: file },
      );
      expect(written).toMatchObject({ changed: 3, kept: [], failures: [], buried: [2, 3] });
      expect(await items.at("new")).toBe(fileTime);
      expect(items.isOfNow(await items.at("here"), before)).toBe(true);
      expect(await items.row("deleted")).toBeUndefined();
      const restored = await items.write(
        [
          { k: "deleted", at: LONG_AGO, v: 3 },
          { k: "other", v: 1 },
        ],
        { stamps: { fileTime: formatMs(store.nowMs() + 60_000), restores: true } },
      );
      expect(restored).toMatchObject({ changed: 2, failures: [] });
      expect(restored.buried).toBeUndefined();
      expect(items.isOfNow(await items.at("other"), before)).toBe(true);
    });

    it("D-14.2.1 `restores` brings back what was deleted since, with a time behind the tombstone", async (parts, store) => {
      const items = await Stamped.prepare(parts, store);
      const stamps = { fileTime: formatMs(store.nowMs() - 3_600_000), restores: true };
      await items.write([
        { k: "a", at: at(store, 60), v: 1 },
        { k: "b", at: at(store, 60), v: 1 },
      ]);
      await items.remove("a");
      await items.remove("b");
      await items.write(
        [
          { k: "a", v: 1 },
          { k: "b", at: LONG_AGO, v: 1 },
        ],
        { stamps },
      );
      const restored = behind(behind(at(store, 60)));
      expect([await items.at("a"), await items.at("b")]).toEqual([restored, restored]);
      expect(await items.tombstones()).toEqual([]);
    });

    it("D-14.2 rows that are only inserted, and tables without deletes, are stamped alike; without a rule nothing is", async (parts, store) => {
      const items = await Stamped.prepare(parts, store, { update_columns: [], deletes: false });
      const before = store.nowMs();
      await items.write([{ k: "a", v: 1 }]);
      const first = await items.at("a");
      expect(items.isOfNow(first, before)).toBe(true);
      expect((await items.write([{ k: "a", v: 2 }])).changed).toBe(0);
      expect(await items.row("a")).toMatchObject({ v: 1, at: first });
      await items.write([{ k: "b", at: null, v: 1 }], {});
      expect(await items.row("b")).toMatchObject({ at: null });
    });

    it("D-14.2.4 of two rows that had no time when their table became stamped a guard writes neither", async (parts, store) => {
      const items = await Stamped.prepare(parts, store);
      await items.write(["a", "b", "c"].map((k) => ({ k, at: FIRST_STAMP, v: 1, w: null })));
      const written = await items.write(
        [
          { k: "a", at: FIRST_STAMP, v: 2, w: null },
          { k: "b", at: FIRST_STAMP, v: 1, w: null },
          { k: "c", at: "1970-01-01T00:00:00.001Z", v: 2, w: null },
          { k: "d", at: FIRST_STAMP, v: 1, w: null },
        ],
        GUARD,
      );
      expect(written).toMatchObject({ kept: [0], changed: 2, failures: [] });
      const { rows } = await readPage(parts.tables, ITEMS, {
        ...{ sinceTime: null, offsetRows: 0, limitRows: 10 },
      });
      expect(rows.map(({ k, v }) => [k, v])).toEqual([
        ["a", 1],
        ["b", 1],
        ["d", 1],
        ["c", 2],
      ]);
    });
  });
}

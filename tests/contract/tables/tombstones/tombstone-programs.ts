import { describe, expect } from "bun:test";
import { formatMs } from "../../../../src/domain/shared/time.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import {
  at,
  behind,
  ITEMS,
  ItemsWithDeletes,
  PARTS,
  type TombstoneParts,
  WITHOUT_DELETES,
} from "./tombstone-table.ts";

/** What other programs delete and write. */
export function tombstoneProgramTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: deletes by other programs`, () => {
    it("D-7.6 a row that is deleted leaves a tombstone of now, for the greatest time that is none ahead", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      await items.write([{ k: "a", at: "2024-01-02T03:04:05Z", v: 1 }]);
      const before = formatMs(store.nowMs());
      await items.remove("a");
      const [[k, deletedAt] = []] = await items.listed();
      const after = formatMs(store.nowMs());
      expect(k).toBe("a");
      expect(Date.parse(String(deletedAt))).toBeGreaterThanOrEqual(Date.parse(before));
      expect(Date.parse(String(deletedAt))).toBeLessThanOrEqual(Date.parse(after));
      expect(await items.rows()).toEqual([]);
    });

    it("D-7.6 the tombstone of a row that is up to 5 minutes ahead is 1 µs later, of one further ahead it is now", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const whole = at(store, 60);
      const millis = at(store, 61);
      const micros = `${millis.slice(0, -1)}999Z`;
      const far = at(store, 600);
      await items.write([
        { k: "whole", at: whole.replace(".250Z", "Z"), v: 1 },
        { k: "millis", at: millis, v: 1 },
        { k: "micros", at: micros, v: 1 },
        { k: "second", at: whole.replace(".250Z", ".999999Z"), v: 1 },
        { k: "far", at: far, v: 1 },
      ]);
      for (const k of ["whole", "millis", "micros", "second", "far"]) await items.remove(k);
      const listed = new Map((await items.listed()).map(([k, time]) => [k, String(time)]));
      expect(listed.get("whole")).toBe(whole.replace(".250Z", ".000001Z"));
      expect(listed.get("millis")).toBe(millis.replace(".250Z", ".250001Z"));
      expect(listed.get("micros")).toBe(millis.replace(".250Z", ".251Z"));
      expect(listed.get("second")).toBe(millis.replace(".250Z", "Z"));
      expect(Date.parse(listed.get("far") ?? "")).toBeLessThanOrEqual(store.nowMs());
    });

    it("D-7.6 a row without a time that can be read leaves a tombstone of now", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const rows = [
        { k: "a", at: null, v: 1 },
        { k: "b", at: "no time", v: 1 },
      ];
      await items.write(heldRows(harness, ITEMS, rows));
      const before = store.nowMs();
      await items.remove("a");
      await items.remove("b");
      for (const [, deletedAt] of await items.listed()) {
        const ms = Date.parse(String(deletedAt));
        expect([ms >= before - 1, ms <= store.nowMs()]).toEqual([true, true]);
      }
      expect(await items.countAfter()).toBe(2);
    });

    it("D-7.6 all rows that go at once leave tombstones, with their keys as the table keeps them", async (parts, store) => {
      await parts.tables.prepare([PARTS]);
      const time = at(store, 60);
      const rows = [
        { shop: "ä", number: "-9007199254740993", at: time, v: 1 },
        { shop: "", number: "9223372036854775807", at: time, v: 2 },
      ];
      for (const row of rows) await parts.program.insert(PARTS, row);
      await parts.program.removeAll(PARTS);
      const query = { after: null, sinceTime: null, limitRows: 10 };
      const { items } = await parts.tombstones.list(PARTS, query);
      const listed = items.toSorted((a, b) =>
        String(a.key["shop"]) > String(b.key["shop"]) ? -1 : 1,
      );
      expect(listed).toEqual([
        { key: { shop: "ä", number: "-9007199254740993" }, deletedAt: behind(time) },
        { key: { shop: "", number: "9223372036854775807" }, deletedAt: behind(time) },
      ]);
    });

    it("D-7.6 a change of a key deletes the old key; other changes delete nothing", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const time = at(store, 60);
      await items.insert({ k: "old", at: time, v: 1 });
      await items.update("old", { v: 2 });
      expect(await items.listed()).toEqual([]);
      await items.update("old", { k: "new" });
      expect(await items.listed()).toEqual([["old", behind(time)]]);
      const change = async (fields: Row) =>
        await parts.documents.transact({ name: "test.change" }, (tx) =>
          tx.tables.change(ITEMS, "k", "new", fields),
        );
      await change({ v: 3 });
      expect(await items.listed()).toEqual([["old", behind(time)]]);
      await change({ k: "newest" });
      expect(await items.listed()).toEqual([
        ["old", behind(time)],
        ["new", behind(time)],
      ]);
      expect(await items.rows()).toEqual([{ k: "newest", at: time, v: 3 }]);
    });

    it("D-7.6 a change of any column of a key deletes the old key", async (parts, store) => {
      await parts.tables.prepare([PARTS]);
      await parts.program.insert(PARTS, { shop: "a", number: "1", at: at(store, 0), v: 1 });
      await parts.program.update(PARTS, { shop: "a", number: "1" }, { number: "2" });
      await parts.program.update(PARTS, { shop: "a", number: "2" }, { shop: "b" });
      const query = { after: null, sinceTime: null, limitRows: 10 };
      const { items } = await parts.tombstones.list(PARTS, query);
      expect(items.map(({ key }) => key)).toEqual([
        { shop: "a", number: "1" },
        { shop: "a", number: "2" },
      ]);
    });

    it("D-7.6, D-2.2.9 columns of a key may be called as SQL calls truth", async (parts, store) => {
      const columns = { at: { type: "datetime" }, True: { type: "text" }, false: { type: "text" } };
      const entry = { timestamp_column: "at", upsert_key: ["True", "false"], deletes: true };
      const table = makeTable({ ...entry, columns } as TableEntry);
      await parts.tables.prepare([table]);
      const keys = ["a", "b"].map((k) => ({ True: k, false: "x" }));
      for (const key of keys) {
        await parts.program.insert(table, { ...key, at: at(store, -60) });
        await parts.program.remove(table, key);
      }
      await parts.program.insert(table, { True: "a", false: "x", at: at(store, 60) });
      await parts.program.insert(table, { True: "b", false: "x", at: at(store, -60) });
      const query = { after: null, sinceTime: null, limitRows: 10 };
      const { items } = await parts.tombstones.list(table, query);
      expect(items.map(({ key }) => key)).toEqual([{ True: "b", false: "x" }]);
    });

    it("D-7.6 a row that comes with a later time removes the tombstone, one that does not stands beside it", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const deletedAt = behind(at(store, 60));
      for (const k of ["earlier", "same", "later", "far", "none"]) await items.bury(k, deletedAt);
      await items.insert({ k: "earlier", at: at(store, 60), v: 1 });
      await items.insert({ k: "same", at: deletedAt, v: 1 });
      await items.insert({ k: "later", at: behind(deletedAt), v: 1 });
      await items.insert({ k: "far", at: at(store, 600), v: 1 });
      await items.insert({ k: "none", at: null, v: 1 });
      const beside = ["earlier", "same", "far", "none"];
      expect((await items.listed()).map(([k]) => k)).toEqual(beside);
      const keys = ["before far", "behind far", "before", "none far"];
      for (const k of keys) await items.bury(k, at(store, 600));
      await items.insert({ k: "before far", at: at(store, 500), v: 1 });
      await items.insert({ k: "behind far", at: at(store, 700), v: 1 });
      await items.insert({ k: "before", at: at(store, 0), v: 1 });
      await items.insert({ k: "none far", at: null, v: 1 });
      expect((await items.listed()).map(([k]) => k)).toEqual([...beside, "before far", "none far"]);
      expect((await items.rows()).length).toBe(9);
    });

    it("D-7.6 a row beside its tombstone removes it once it gets a later time, and a row that comes to its key does", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const deletedAt = at(store, 60);
      for (const k of ["a", "b"]) await items.bury(k, deletedAt);
      await items.insert({ k: "a", at: at(store, 0), v: 1 });
      await items.update("a", { v: 2 });
      expect(await items.listed()).toEqual([
        ["a", deletedAt],
        ["b", deletedAt],
      ]);
      await items.update("a", { at: behind(deletedAt) });
      expect(await items.listed()).toEqual([["b", deletedAt]]);
      await items.update("a", { k: "b" });
      expect(await items.listed()).toEqual([["a", behind(behind(deletedAt))]]);
    });

    it("D-7.6 a later row of a program removes its tombstone, whatever is written in its place afterwards", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      for (const k of ["a", "b"]) await items.bury(k, at(store, 60));
      await items.insert({ k: "a", at: at(store, 120), v: 1 });
      await items.write([{ k: "a", at: at(store, 0), v: 2 }]);
      expect(await items.listed()).toEqual([["b", at(store, 60)]]);
      expect(await items.rows()).toEqual([{ k: "a", at: at(store, 0), v: 2 }]);
    });

    it("D-7.6 a page goes on behind tombstones whose rows a program wrote anew", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      for (const k of ["a", "b", "c", "d", "e"]) await items.bury(k, at(store, 60));
      for (const k of ["a", "b", "c"]) await items.insert({ k, at: at(store, 120), v: 1 });
      const first = await items.page({ limitRows: 1 });
      const second = await items.page({ limitRows: 1, after: first.cursor });
      const told = [first, second].map((page) => [
        page.items.map(({ key }) => key["k"]),
        page.hasMore,
      ]);
      expect(told).toEqual([
        [["d"], true],
        [["e"], false],
      ]);
    });

    it("D-7.6 a row that is deleted again is listed anew with its new time, at its last place only", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const [first, second] = [at(store, 60), at(store, 61)];
      for (const k of ["a", "b"]) {
        await items.insert({ k, at: first, v: 1 });
        await items.remove(k);
      }
      const { cursor } = await items.page();
      await items.insert({ k: "a", at: second, v: 1 });
      await items.remove("a");
      expect(await items.listed()).toEqual([
        ["b", behind(first)],
        ["a", behind(second)],
      ]);
      expect(await items.listed(cursor)).toEqual([["a", behind(second)]]);
    });

    it("D-7.6 a row beside its tombstone that is deleted leaves the greater time, where it stands", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const kept = [
        ["greater", at(store, 120)],
        ["same", behind(at(store, 60))],
      ] as const;
      for (const [k, deletedAt] of kept) await items.bury(k, deletedAt);
      const { cursor } = await items.page();
      for (const [k] of kept) {
        await items.insert({ k, at: at(store, 60), v: 1 });
        await items.remove(k);
      }
      expect(await items.listed()).toEqual(kept);
      expect(await items.listed(cursor)).toEqual([]);
    });

    it("D-7.6 a row beside its tombstone that is deleted later is listed anew, at its last place only", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      for (const k of ["a", "b", "c"]) await items.bury(k, at(store, -60));
      const { cursor } = await items.page();
      const [early, late] = [at(store, -90), at(store, 60)];
      await items.insert({ k: "a", at: early, v: 1 });
      await items.insert({ k: "d", at: late, v: 1 });
      await items.remove("d");
      await items.remove("a");
      const anew = (await items.listed(cursor)).map(([k]) => k);
      expect([(await items.listed()).map(([k]) => k), anew]).toEqual([
        ["b", "c", "d", "a"],
        ["d", "a"],
      ]);
    });

    it("D-7.6 a row beside its tombstone that a change moves to another key leaves the greater time, where it stands", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const deletedAt = at(store, 120);
      for (const k of ["a", "b"]) await items.bury(k, deletedAt);
      await items.write([{ k: "a", at: at(store, 0), v: 1 }]);
      const { cursor } = await items.page();
      await parts.documents.transact({ name: "test.change" }, (tx) =>
        tx.tables.change(ITEMS, "k", "a", { k: "c" }),
      );
      expect((await items.rows()).map(({ k }) => k)).toEqual(["c"]);
      expect(await items.listed()).toEqual([
        ["a", deletedAt],
        ["b", deletedAt],
      ]);
      expect(await items.listed(cursor)).toEqual([]);
    });

    it("D-7.6 a table that has not opted in records nothing", async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      await items.insert({ k: "a", at: at(store, 60), v: 1 });
      await parts.tables.prepare([WITHOUT_DELETES]);
      await parts.program.remove(WITHOUT_DELETES, { k: "a" });
      await parts.tables.prepare([{ ...WITHOUT_DELETES, deletes: true }]);
      expect(await items.listed()).toEqual([]);
    });
  });
}

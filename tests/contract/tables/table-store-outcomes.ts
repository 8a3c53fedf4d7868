import { describe, expect } from "bun:test";
import { makeTable } from "../../support/rows/make-table.ts";
import { writeTo } from "../../support/rows/write-to.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";
import { TableUnderTest } from "./table-under-test.ts";

type Parts = Pick<RunStorage, "tables" | "documents" | "close">;

const ITEMS = makeTable({
  upsert_key: ["k"],
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    v: { type: "integer" },
    notes: { type: "text" },
    extra: { type: "json" },
  },
});

const LISTED = makeTable({
  upsert_key: ["k"],
  update_columns: ["v"],
  columns: { k: { type: "text" }, v: { type: "integer" }, first: { type: "text" } },
});

/** What `write()` tells of a write, and records that lack columns. */
export function tableOutcomeTests(harness: StoreHarness<Parts>): void {
  describe(`${harness.name}: outcomes of writes`, () => {
    changedTests(harness);
    absentTests(harness);
    refusedIfNewTests(harness);
    if (harness.options.isShared) sharingTests(harness);
  });
}

function changedTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);
  const full = (k: string, v: number | null, extra: unknown[] = [1, "é"]) => ({
    ...{ k, v, notes: "n", extra: { list: extra as never[], text: "" } },
  });

  it("D-7.11 changed counts the rows that were inserted or are now different", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const changed = async (...rows: Parameters<typeof table.write>) =>
      (await table.writeWith({}, ...rows)).changed;
    expect(await changed(full("a", 1), full("b", 2), full("c", null))).toBe(3);
    expect(await changed(full("a", 1), full("b", 2), full("c", null))).toBe(0);
    expect(await changed(full("a", 1), full("b", 3), full("c", null), full("d", 1))).toBe(2);
    expect(await changed(full("a", 1, [1, "e"]), full("c", 0))).toBe(2);
    expect(await changed({ k: "a" }, { k: "b", v: 3 }, { k: "c", notes: "n" })).toBe(0);
    expect(await changed()).toBe(0);
  });

  it("D-7.11 a row that differs in columns that are not updated does not count", async (storage) => {
    const table = await TableUnderTest.prepare(storage, LISTED);
    await table.write({ k: "a", v: 1, first: "yes" });
    const outcome = await table.writeWith({}, { k: "a", v: 1, first: "no" });
    expect(outcome).toEqual({ failures: [], kept: [], changed: 0, deleted: 0 });
  });
}

function absentTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.3 a column that is absent stays as it is, and is null in a new row", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", v: 1, notes: "kept", extra: [1] }, { k: "b", v: 1, notes: "b" });
    await table.write({ k: "a", v: 2 }, { k: "c", v: 2 }, { k: "b", notes: null }, { k: "d" });
    expect(await table.rows()).toEqual([
      { id: 1, k: "a", v: 2, notes: "kept", extra: [1] },
      { id: 2, k: "b", v: 1, notes: null, extra: null },
      { id: 3, k: "c", v: 2, notes: null, extra: null },
      { id: 4, k: "d", v: null, notes: null, extra: null },
    ]);
  });

  it("D-7.3 records of one key may each lack other columns", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", v: 1 }, { k: "a", notes: "n" }, { k: "a", extra: true });
    await table.write({ k: "a", notes: "m" }, { k: "a", v: 2, notes: "o" }, { k: "a", v: 3 });
    expect(await table.rows()).toEqual([{ id: 1, k: "a", v: 3, notes: "o", extra: true }]);
  });
}

function refusedIfNewTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);
  const refusedIfNew = "notes may not be null";

  it("D-7.3 refusedIfNew refuses a record whose row would be new, and no other", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", v: 1, notes: "n", extra: null });
    const outcome = await writeTo(storage, ITEMS, [
      { index: 0, row: { k: "a", v: 2 }, refusedIfNew },
      { index: 1, row: { k: "b", v: 2 }, refusedIfNew },
      { index: 4, row: { k: "c", v: 2 } },
      { index: 6, row: { k: "c", v: 3 }, refusedIfNew },
      { index: 7, row: { k: "d", v: 4 }, refusedIfNew },
      { index: 8, row: { k: "d", v: 5, notes: "n" } },
    ]);
    expect(outcome.kept).toEqual([]);
    expect(outcome.failures.toSorted((a, b) => a.index - b.index)).toEqual([
      { index: 1, message: refusedIfNew },
      { index: 7, message: refusedIfNew },
    ]);
    expect(await table.rows()).toEqual([
      { id: 1, k: "a", v: 2, notes: "n", extra: null },
      { id: 2, k: "c", v: 3, notes: null, extra: null },
      { id: 3, k: "d", v: 5, notes: "n", extra: null },
    ]);
  });

  it("D-7.3 a write of nothing but refused records writes nothing", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const writes = [{ index: 3, row: { k: "b", v: 2 }, refusedIfNew }];
    expect(await writeTo(storage, ITEMS, writes)).toEqual({
      ...{ failures: [{ index: 3, message: refusedIfNew }], kept: [], changed: 0, deleted: 0 },
    });
    expect(await table.count()).toBe(0);
  });
}

function sharingTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.3 a column that is absent keeps what another writer puts there meanwhile", async (storage, store) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const other = await TableUnderTest.prepare(await openSecond(store), ITEMS);
    const keys = ["a", "b", "c"];
    await table.write(...keys.map((k) => ({ k, v: 0, notes: "0", extra: null })));
    for (let v = 1; v <= 15; v++) {
      await Promise.all([
        table.write(...keys.map((k) => ({ k, v }))),
        other.write(...keys.map((k) => ({ k, notes: `${v}` }))),
        table.write(...keys.map((k) => ({ k, extra: v }))),
      ]);
      const rows = (await other.rows()).map(({ v, notes, extra }) => [v, notes, extra]);
      expect(rows).toEqual(keys.map(() => [v, `${v}`, v]));
    }
  });
}

import { describe, expect } from "bun:test";
import { AppError } from "../../../../src/domain/shared/errors.ts";
import type { Tombstone } from "../../../../src/domain/sync/rows/tombstone.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { countRemovable } from "../../../../src/usecases/sync/pages/delete-rows.ts";
import { readAfter } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { type OpenedStore, type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import { asWrites } from "../table-under-test.ts";
import { at, behind, ITEMS, ItemsWithDeletes, type TombstoneParts } from "./tombstone-table.ts";

const GUARDED = { conflict: "newer" } as const;

/** What `TableWrites.write` does with tombstones, and with rows beside them. */
export function tombstoneWriteTests(harness: StoreHarness<TombstoneParts>): void {
  describe(`${harness.name}: writes with tombstones`, () => {
    arrivalTests(harness);
    guardTests(harness);
    commitTests(harness);
  });
}

function arrivalTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  it("D-7.6 a tombstone that arrives removes the row, and is kept as sent, without a row too", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const deletedAt = at(store, -1000).replace(".250Z", ".250999Z");
    await items.write([
      { k: "a", at: at(store, -2000), v: 1 },
      { k: "c", at: "1900-01-01T00:00:00Z", v: 1 },
    ]);
    expect(await items.bury("a", deletedAt)).toBe(1);
    expect(await items.bury("b", "2024-02-29T00:00:00Z")).toBe(0);
    expect(await items.bury("c", "1969-12-31T23:59:59.999999Z")).toBe(1);
    expect(await items.rows()).toEqual([]);
    expect(await items.listed()).toEqual([
      ["a", deletedAt],
      ["b", "2024-02-29T00:00:00Z"],
      ["c", "1969-12-31T23:59:59.999999Z"],
    ]);
  });

  it("D-7.6 a tombstone that arrives removes rows with its own time, with none, and with one too far ahead", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const deletedAt = at(store, -60);
    const rows = [
      { k: "same", at: deletedAt, v: 1 },
      { k: "none", at: null, v: 1 },
      { k: "no time", at: "no time", v: 1 },
      { k: "far", at: at(store, 600), v: 1 },
      { k: "later", at: behind(deletedAt), v: 1 },
      { k: "ahead", at: at(store, 240), v: 1 },
    ];
    await items.write(heldRows(harness, ITEMS, rows));
    const keys = ["same", "none", "no time", "far", "later", "ahead"];
    const deleted = keys.map((k, index) => ({ index, key: { k }, deletedAt }));
    expect((await items.write([], { deleted })).deleted).toBe(4);
    expect((await items.rows()).map(({ k }) => k)).toEqual(["ahead", "later"]);
    expect((await items.listed()).map(([k]) => k)).toEqual(["same", "none", "no time", "far"]);
  });

  it("D-7.6 a row that outlives a tombstone is noted for pushes too, whoever brings that, with its own time", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const time = at(store, -10);
    await items.write([{ k: "a", at: time, v: 1 }]);
    const { mark } = await parts.lateRows.read(ITEMS, { lateAfter: null, isForOwnPush: true });
    const deleted = [{ index: 0, key: { k: "a" }, deletedAt: at(store, -20) }];
    await items.write([], { deleted, conflict: "newer", isOwnRun: true });
    for (const isForOwnPush of [true, false]) {
      const { from } = await parts.lateRows.read(ITEMS, { lateAfter: mark, isForOwnPush });
      expect(from).toBe(time);
    }
    expect(await items.listed()).toEqual([]);
  });

  it("D-7.6 of two tombstones of a key the greater time stays, and one that changes nothing is not listed anew", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const [early, middle, late] = [at(store, -30), at(store, -20), at(store, -10)] as const;
    await items.bury("a", middle);
    await items.bury("b", middle);
    const { cursor } = await items.page();
    await items.bury("a", middle);
    await items.bury("b", early);
    expect(await items.listed(cursor)).toEqual([]);
    await items.bury("a", late);
    expect(await items.listed()).toEqual([
      ["b", middle],
      ["a", late],
    ]);
    expect(await items.listed(cursor)).toEqual([["a", late]]);
  });

  it("D-7.6 a tombstone that is not later than the one kept still removes a row that is not later than it, and is not listed", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const kept = ["a", "b", "c"].map((k) => [k, at(store, -10)] as const);
    for (const [k, deletedAt] of kept) await items.bury(k, deletedAt);
    await items.write(["a", "b"].map((k) => ({ k, at: at(store, -30), v: 1 })));
    expect(await items.bury("a", at(store, -20))).toBe(1);
    expect(await items.bury("b", at(store, -10))).toBe(1);
    expect(await items.rows()).toEqual([]);
    expect(await items.listed()).toEqual(kept);
  });

  it("D-7.6 tombstones go before the rows of the same write", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.write([{ k: "a", at: at(store, -30), v: 1 }]);
    const deleted = ["a", "b"].map((k, index) => ({
      index,
      key: { k },
      deletedAt: at(store, -20),
    }));
    const rows = [
      { k: "a", at: at(store, -10), v: 2 },
      { k: "b", at: at(store, -30), v: 2 },
    ];
    const outcome = await items.write(rows, { ...GUARDED, deleted });
    expect(outcome).toEqual({ failures: [], kept: [1], changed: 1, deleted: 1 });
    expect(await items.rows()).toEqual([{ k: "a", at: at(store, -10), v: 2 }]);
    expect(await items.listed()).toEqual([["b", at(store, -20)]]);
  });

  it("D-7.6 the same key twice among tombstones acts as one after the other", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.write([{ k: "a", at: at(store, -40), v: 1 }]);
    const deleted = [-30, -10, -20].map((seconds, index) => ({
      index,
      key: { k: "a" },
      deletedAt: at(store, seconds),
    }));
    expect((await items.write([], { deleted })).deleted).toBe(1);
    expect(await items.listed()).toEqual([["a", at(store, -10)]]);
  });

  it("D-7.6 countRemovable() counts the rows that tombstones would remove, each once, and removes none", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.bury("buried", at(store, -20));
    await items.write([
      { k: "a", at: at(store, -30), v: 1 },
      { k: "later", at: at(store, -10), v: 1 },
      { k: "far", at: at(store, 600), v: 1 },
      { k: "none", at: null, v: 1 },
    ]);
    const keys = ["a", "a", "later", "far", "none", "buried", "unknown"];
    const tombstones = keys.map((k) => ({ key: { k }, deletedAt: at(store, -20) }));
    expect(await removable(parts, store, tombstones)).toBe(3);
    expect(await removable(parts, store, [])).toBe(0);
    expect((await items.rows()).length).toBe(4);
    expect((await items.listed()).length).toBe(1);
  });

  it("D-14.7.1 byKeys() gives the tombstones of keys, each once, as they were listed last", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    expect(await parts.tombstones.byKeys(ITEMS, [{ k: "a" }])).toEqual([]);
    await items.bury("a", at(store, -30));
    await items.bury("b", at(store, -20));
    await items.bury("b", at(store, -10));
    await items.write([{ k: "here", at: at(store, -5), v: 1 }]);
    const keys = ["a", "b", "here", "unknown", "a"].map((k) => ({ k, v: 7 }));
    const found = await parts.tombstones.byKeys(ITEMS, keys);
    const told = found.map(({ key, deletedAt }) => [key["k"], deletedAt]);
    expect(told.sort()).toEqual([
      ["a", at(store, -30)],
      ["b", at(store, -10)],
    ]);
    const many = Array.from({ length: 2_500 }, (_, n) => ({ k: `k${n}` }));
    // More than one message has room for.
    const large = Array.from({ length: 18 }, (_, n) => ({ k: `${n}${"x".repeat(1024 * 1024)}` }));
    expect(await parts.tombstones.byKeys(ITEMS, [...many, ...large, { k: "b" }])).toHaveLength(1);
    expect(await parts.tombstones.byKeys(ITEMS, [])).toEqual([]);
  });

  it("D-7.6 a thousand tombstones arrive in one write", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const time = at(store, -60);
    const keys = Array.from({ length: 1000 }, (_, n) => `k${String(n).padStart(4, "0")}`);
    await items.write(keys.slice(0, 600).map((k) => ({ k, at: time, v: 1 })));
    const deleted = keys.map((k, index) => ({ index, key: { k }, deletedAt: behind(time) }));
    expect(await removable(parts, store, deleted)).toBe(600);
    expect((await items.write([], { deleted })).deleted).toBe(600);
    expect(await items.rows()).toEqual([]);
    expect((await items.listed()).map(([k]) => k)).toEqual(keys);
  });
}

function guardTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  const guards: readonly [string, Table, object][] = [
    ["a guarded write", ITEMS, GUARDED],
    ["a write of a run", ITEMS, { ...GUARDED, isOwnRun: true }],
    ["a write to a table with conflict newer", { ...ITEMS, conflict: "newer" }, {}],
  ];
  for (const [what, table, options] of guards) {
    it(`D-7.6 ${what} keeps out what is not later than its tombstone, and lists that anew`, async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      await parts.tables.prepare([table]);
      const deletedAt = at(store, -20);
      const keys = ["earlier", "same", "later", "none", "far", "other"];
      for (const k of keys) await items.bury(k, deletedAt);
      const { cursor } = await items.page();
      const rows = [
        { k: "earlier", at: at(store, -21), v: 1 },
        { k: "same", at: deletedAt, v: 1 },
        { k: "later", at: behind(deletedAt), v: 1 },
        { k: "none", at: null, v: 1 },
        { k: "far", at: at(store, 600), v: 1 },
        { k: "new", at: at(store, -21), v: 1 },
      ];
      const outcome = await writeTo(parts, table, asWrites(rows), options);
      expect(outcome).toEqual({ failures: [], kept: [0, 1, 3, 4], changed: 2, deleted: 0 });
      expect((await items.rows()).map(({ k }) => k)).toEqual(["later", "new"]);
      const anew = ["earlier", "same", "none", "far"].map((k) => [k, deletedAt]);
      expect(await items.listed(cursor)).toEqual(anew);
      expect(await items.listed()).toEqual([["other", deletedAt], ...anew]);
    });
  }

  for (const field of ["refusedIfNew", "refused"]) {
    it(`D-7.6 a record with ${field} is kept out like any other, and fails where its tombstone does not`, async (parts, store) => {
      const items = await ItemsWithDeletes.prepare(parts);
      const deletedAt = at(store, -20);
      for (const k of ["a", "b"]) await items.bury(k, deletedAt);
      const { cursor } = await items.page();
      const rows = [
        { k: "a", at: deletedAt, v: 1 },
        { k: "b", at: behind(deletedAt), v: 1 },
        { k: "c", at: deletedAt, v: 1 },
      ];
      const writes = asWrites(rows).map((write) => ({ ...write, [field]: "Not new" }));
      const failures = [1, 2].map((index) => ({ index, message: "Not new" }));
      const outcome = { failures, kept: [0], changed: 0, deleted: 0 };
      expect(await writeTo(parts, ITEMS, writes, GUARDED)).toEqual(outcome);
      expect(await items.rows()).toEqual([]);
      expect(await items.listed(cursor)).toEqual([["a", deletedAt]]);
    });
  }

  it("D-7.6 a refused record is kept out by the tombstone beside which a row stands", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const deletedAt = at(store, -20);
    await items.bury("a", deletedAt);
    const row = { k: "a", at: at(store, -30), v: 1 };
    await items.write([row]);
    const writes = [{ index: 0, row: { k: "a", at: deletedAt }, refused: "Not this" }];
    const outcome = await writeTo(parts, ITEMS, writes, GUARDED);
    expect(outcome).toEqual({ failures: [], kept: [0], changed: 0, deleted: 0 });
    expect(await writeTo(parts, ITEMS, writes)).toEqual({
      ...outcome,
      ...{ failures: [{ index: 0, message: "Not this" }], kept: [] },
    });
    expect(await items.rows()).toEqual([row]);
    expect(await items.listed()).toEqual([["a", deletedAt]]);
  });

  it("D-7.6 without the guard a row that is not later is written, and stands beside its tombstone", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const deletedAt = at(store, -20);
    await items.bury("a", deletedAt);
    const { cursor } = await items.page();
    const outcome = await items.write([{ k: "a", at: at(store, -30), v: 1 }]);
    expect(outcome).toEqual({ failures: [], kept: [], changed: 1, deleted: 0 });
    expect(await items.rows()).toEqual([{ k: "a", at: at(store, -30), v: 1 }]);
    expect(await items.listed()).toEqual([["a", deletedAt]]);
    expect(await items.listed(cursor)).toEqual([]);
  });

  it("D-7.6.9 with the rule to restore every row removes its tombstone, also one that stands beside it as it comes", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    for (const k of ["a", "b", "c"]) await items.bury(k, at(store, -20));
    const rows = ["a", "b"].map((k) => ({ k, at: at(store, -30), v: 1 }));
    await items.write(rows.slice(1));
    const outcome = await items.write(rows, { conflict: "restore" });
    expect(outcome).toEqual({ failures: [], kept: [], changed: 1, deleted: 0 });
    expect(await items.rows()).toEqual(rows);
    expect(await items.listed()).toEqual([["c", at(store, -20)]]);
    expect((await items.write(rows, GUARDED)).kept).toEqual([]);
  });

  it("D-7.6 a row beside its tombstone is removed when the tombstone arrives, and keeps guarded rows out till then", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const deletedAt = at(store, -20);
    await items.bury("a", deletedAt);
    await items.write([{ k: "a", at: at(store, -30), v: 1 }]);
    const outcome = await items.write([{ k: "a", at: at(store, -25), v: 2 }], GUARDED);
    expect([outcome.kept, outcome.changed]).toEqual([[0], 0]);
    expect(await items.bury("a", deletedAt)).toBe(1);
    expect(await items.rows()).toEqual([]);
    expect(await items.listed()).toEqual([["a", deletedAt]]);
  });

  it("D-7.6 a row that is later removes the tombstone, with and without the guard, and within one write", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    for (const k of ["a", "b", "c"]) await items.bury(k, at(store, -20));
    await items.write([{ k: "a", at: at(store, -10), v: 1 }]);
    await items.write([{ k: "b", at: at(store, -10), v: 1 }], GUARDED);
    expect(await items.listed()).toEqual([["c", at(store, -20)]]);
    const twice = [
      { k: "c", at: at(store, -30), v: 1 },
      { k: "c", at: at(store, -10), v: 2 },
    ];
    const outcome = await items.write(twice, GUARDED);
    expect([outcome.kept, outcome.changed]).toEqual([[0], 1]);
    expect(await items.listed()).toEqual([]);
    expect((await items.rows()).map(({ v }) => v)).toEqual([1, 1, 2]);
  });

  it("D-7.6 a row beside its tombstone removes it once a write gives it a later time", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.bury("a", at(store, -20));
    await items.write([{ k: "a", at: at(store, -30), v: 1 }]);
    await items.write([{ k: "a", at: at(store, -10), v: 2 }], GUARDED);
    expect(await items.listed()).toEqual([]);
    expect(await items.rows()).toEqual([{ k: "a", at: at(store, -10), v: 2 }]);
  });
}

function commitTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);
  const lost = new AppError("lease_lost", "The lease was lost");

  it("D-7.6 a write that is called off leaves rows and tombstones as they were", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const scene = await makeScene(items, store);
    const refused = items.write(scene.rows, {
      ...{ ...GUARDED, deleted: scene.deleted },
      beforeCommit: (outcome) => {
        expect(outcome).toEqual({ ...scene.outcome, erased: [] });
        throw lost;
      },
    });
    expect(await refused.catch((error: unknown) => error)).toBe(lost);
    expect(await items.listed()).toEqual(scene.listed);
    expect((await items.rows()).map(({ k }) => k)).toEqual(["a"]);
    expect(await items.countAfter(scene.cursor)).toBe(0);
  });

  it("D-7.6 a marker is set in the commit of the tombstones", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const scene = await makeScene(items, store);
    const outcome = await items.write([], {
      deleted: scene.deleted,
      beforeCommit: ({ deleted }) => ({ memory: { pull: { marker: `${deleted}` } } }),
    });
    expect(outcome.deleted).toBe(1);
    expect((await parts.memory.read("items")).pull.marker).toBe("1");
  });

  it("D-7.6 a removed row is gone from pages, counts and runs at once, and its number is not given again", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.write(["a", "b", "c"].map((k) => ({ k, at: at(store, -30), v: 1 })));
    expect(await parts.tables.count(ITEMS)).toBe(3);
    await items.bury("b", at(store, -20));
    expect(await parts.tables.count(ITEMS)).toBe(2);
    expect((await items.rows()).map(({ k }) => k)).toEqual(["a", "c"]);
    const query = { after: null, sinceTime: null, limitRows: 10 };
    expect((await readAfter(parts.tables, ITEMS, query)).map(({ k }) => k)).toEqual(["a", "c"]);
    expect(await parts.tables.byKeys(ITEMS, [{ k: "b" }], "sent")).toEqual([]);
  });
}

async function removable(
  { tables }: TombstoneParts,
  store: OpenedStore<unknown>,
  tombstones: readonly Tombstone[],
): Promise<number> {
  return await countRemovable(tables, ITEMS, tombstones, store.nowMs());
}

/** A row, a tombstone, and a write that changes all of it. */
async function makeScene(items: ItemsWithDeletes, store: OpenedStore<unknown>) {
  await items.bury("b", at(store, -20));
  await items.bury("c", at(store, -20));
  await items.write([{ k: "a", at: at(store, -30), v: 1 }]);
  const { cursor } = await items.page();
  return {
    cursor,
    listed: await items.listed(),
    deleted: ["a", "new"].map((k, index) => ({ index, key: { k }, deletedAt: at(store, -20) })),
    rows: [
      { k: "b", at: at(store, -10), v: 2 },
      { k: "c", at: at(store, -30), v: 2 },
    ],
    outcome: { failures: [], kept: [1], changed: 1, deleted: 1 },
  };
}

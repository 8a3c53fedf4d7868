import { describe, expect } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { formatMs } from "../../../../src/domain/shared/time.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { type OpenedStore, openSecond, type StoreHarness, storeTests } from "../../harness.ts";
import {
  at,
  ITEMS,
  ItemsWithDeletes,
  type TombstoneParts,
  WITHOUT_DELETES,
} from "./tombstone-table.ts";

/** The list, its places, and since when it is complete. */
export function tombstoneFeedTests(harness: StoreHarness<TombstoneParts>): void {
  describe(`${harness.name}: the list of tombstones`, () => {
    readingTests(harness);
    forgettingTests(harness);
    completenessTests(harness);
    if (harness.options.isShared) sharingTests(harness);
  });
}

function readingTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  it("D-7.6 list() reads on from each place, in the order of becoming visible", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const times = [-10, -50, -20, -40, -30].map((seconds) => at(store, seconds));
    const expected = times.map((time, n) => [`k${9 - n}`, time]);
    for (const [n, time] of times.entries()) await items.bury(`k${9 - n}`, time);
    expect(await items.listed()).toEqual(expected);
    const walked: unknown[] = [];
    let after: string | null = null;
    for (;;) {
      const page = await items.page({ after, limitRows: 2 });
      walked.push(...page.items.map(({ key, deletedAt }) => [key["k"], deletedAt]));
      after = page.cursor;
      if (!page.hasMore) break;
      expect(page.items.length).toBe(2);
    }
    expect(walked).toEqual(expected);
    expect(await items.listed(after)).toEqual([]);
    await items.bury("late", at(store, -60));
    expect(await items.listed(after)).toEqual([["late", at(store, -60)]]);
  });

  it("D-7.6 an empty list has a place to go on from, and a page that ends the list says so", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const { items: none, cursor, hasMore } = await items.page();
    expect([none, hasMore]).toEqual([[], false]);
    expect(await items.listed(await items.end())).toEqual([]);
    await items.bury("a", at(store, -10));
    await items.bury("b", at(store, -10));
    expect((await items.page({ after: cursor, limitRows: 2 })).hasMore).toBe(false);
    expect((await items.page({ after: cursor, limitRows: 1 })).hasMore).toBe(true);
    const end = await items.page({ after: await items.end() });
    expect([end.items, end.cursor, end.hasMore]).toEqual([[], await items.end(), false]);
  });

  it("D-7.6 end() is the place behind the last tombstone, rows deleted before the call included", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.insert({ k: "a", at: at(store, 0), v: 1 });
    await items.remove("a");
    const end = await items.end();
    expect(await items.listed(end)).toEqual([]);
    await items.bury("b", at(store, -10));
    expect((await items.listed(end)).map(([k]) => k)).toEqual(["b"]);
  });

  it("D-7.6 tables with names that look alike have records and places of their own", async (parts, store) => {
    const [one, other] = ["wo_rk", "woxrk"].map((name): Table => ({ ...ITEMS, name }));
    await parts.tables.prepare([other!, one!]);
    for (const k of ["a", "b", "c"]) {
      await parts.program.insert(other!, { k, at: at(store, -10), v: 1 });
      await parts.program.remove(other!, { k });
    }
    const keysAfter = async (table: Table, after: string | null) => {
      const page = { after, sinceTime: null, limitRows: 10 };
      return (await parts.tombstones.list(table, page)).items.map(({ key }) => key["k"]);
    };
    const end = await parts.tombstones.end(one!);
    await parts.program.insert(one!, { k: "d", at: at(store, -10), v: 1 });
    await parts.program.remove(one!, { k: "d" });
    expect(await keysAfter(one!, end)).toEqual(["d"]);
    expect(await keysAfter(other!, null)).toEqual(["a", "b", "c"]);
  });

  it("D-7.6 countAfter() counts what is listed after a place, each key once", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    expect(await items.countAfter()).toBe(0);
    for (const k of ["a", "b", "c"]) await items.bury(k, at(store, -20));
    const end = await items.end();
    expect([await items.countAfter(), await items.countAfter(end)]).toEqual([3, 0]);
    await items.bury("a", at(store, -10));
    await items.bury("d", at(store, -10));
    expect([await items.countAfter(), await items.countAfter(end)]).toEqual([4, 2]);
  });

  it("D-7.6 list() leaves out what was taken in before a time, whatever its own time", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.bury("before", at(store, 60));
    await items.bury("again", at(store, -20));
    const since = await laterTime(store);
    await items.bury("after", at(store, -5000));
    await items.bury("again", at(store, -10));
    await items.insert({ k: "gone", at: at(store, -10), v: 1 });
    await items.remove("gone");
    const { items: listed } = await items.page({ sinceTime: since });
    expect(listed.map(({ key }) => key["k"])).toEqual(["after", "again", "gone"]);
    const first = await items.page({ sinceTime: since, limitRows: 1 });
    expect([first.items.length, first.hasMore]).toEqual([1, true]);
    const future = formatMs(store.nowMs() + 3_600_000);
    expect((await items.page({ sinceTime: future })).items).toEqual([]);
  });

  it("D-7.6 a cursor that this store never gave is refused", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    for (const k of ["a", "b", "c"]) await items.bury(k, at(store, -20));
    const end = await items.end();
    const places = ["1.5", "-3", "-0", "01", "1e0", "+1", "0x1", ""];
    const inList = places.map((place) => end.replace(/\d+$/, place));
    const others = ["", "x", "-1", "1e3", `${end}9999999`, " 1", "null", "'", "\0"];
    for (const after of [...others, ...inList]) {
      for (const call of [
        () => items.page({ after }),
        () => items.countAfter(after),
        () => parts.tombstones.forgetAfter(ITEMS, after),
      ]) {
        const kind = await call().catch((error: { kind?: unknown }) => error.kind);
        expect([after, kind]).toEqual([after, "invalid_request"]);
      }
    }
  });

  it("D-7.6 tables have lists of their own", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const other = { ...ITEMS, name: "other" };
    await parts.tables.prepare([other]);
    const deleted = [{ index: 0, key: { k: "x" }, deletedAt: at(store, -10) }];
    await writeTo(parts, other, [], { deleted });
    await items.bury("a", at(store, -20));
    expect(await items.listed()).toEqual([["a", at(store, -20)]]);
    expect(await parts.tombstones.countAfter(other, null)).toBe(1);
    await items.insert({ k: "x", at: at(store, 0), v: 1 });
    expect(await parts.tombstones.countAfter(other, null)).toBe(1);
  });
}

function forgettingTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  it("D-7.6 forgetAfter() forgets what is listed after a place, so that rows come back", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    for (const k of ["a", "b"]) await items.bury(k, at(store, -20));
    const place = await items.end();
    for (const k of ["c", "d"]) await items.bury(k, at(store, -20));
    await items.bury("a", at(store, -10));
    await items.insert({ k: "e", at: at(store, 0), v: 1 });
    await items.remove("e");
    expect(await parts.tombstones.forgetAfter(ITEMS, place)).toBe(4);
    expect(await parts.tombstones.forgetAfter(ITEMS, place)).toBe(0);
    await parts.tables.prepare([{ ...ITEMS, name: "other" }]);
    expect(await items.listed()).toEqual([["b", at(store, -20)]]);
    const rows = ["a", "b", "c"].map((k) => ({ k, at: at(store, -30), v: 1 }));
    expect((await items.write(rows, { conflict: "newer" })).kept).toEqual([1]);
    expect(await parts.tombstones.forgetAfter(ITEMS, null)).toBe(1);
    expect(await items.listed()).toEqual([]);
  });

  it("D-7.6 a place stays what it is when tombstones before or after it are forgotten", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const ways = [
      () => parts.tombstones.forgetAfter(ITEMS, null),
      async () => parts.tombstones.prune(ITEMS, await laterTime(store)),
    ];
    for (const forget of ways) {
      for (const k of ["a", "b"]) await items.bury(k, at(store, -20));
      const end = await items.end();
      await forget();
      expect(await items.listed(end)).toEqual([]);
      await items.bury("c", at(store, -20));
      expect((await items.listed(end)).map(([k]) => k)).toEqual(["c"]);
      expect(await items.listed(await items.end())).toEqual([]);
    }
  });

  it("D-7.6 prune() forgets what was taken in before a time, and the list is complete since then", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    for (const k of ["a", "b"]) await items.bury(k, at(store, 60));
    const time = await laterTime(store);
    await items.bury("b", at(store, 61));
    await items.bury("c", "2001-01-01T00:00:00Z");
    await items.insert({ k: "d", at: at(store, 0), v: 1 });
    await items.remove("d");
    expect((await items.listed()).map(([k]) => k)).toEqual(["a", "b", "c", "d"]);
    expect(await parts.tombstones.prune(ITEMS, time)).toBe(1);
    expect((await items.listed()).map(([k]) => k)).toEqual(["b", "c", "d"]);
    expect((await items.page()).earliestAvailable).toBe(time);
    expect(await parts.tombstones.prune(ITEMS, "2001-01-01T00:00:00Z")).toBe(0);
    expect((await items.page()).earliestAvailable).toBe(time);
  });
}

function completenessTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  it("D-7.6 the list is complete since the table opted in, however often it is prepared", async (parts, store) => {
    const before = store.nowMs();
    const items = await ItemsWithDeletes.prepare(parts);
    const { earliestAvailable } = await items.page();
    expect(Date.parse(earliestAvailable)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(earliestAvailable)).toBeLessThanOrEqual(store.nowMs());
    await items.bury("a", at(store, -10));
    await laterTime(store);
    await parts.tables.prepare([ITEMS]);
    const again = await items.page();
    expect(again.earliestAvailable).toBe(earliestAvailable);
    expect(again.items.length).toBe(1);
  });

  it("D-7.6 deletes switched off and on begins to be complete anew", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.insert({ k: "a", at: at(store, -10), v: 1 });
    const place = await items.end();
    await parts.tables.prepare([WITHOUT_DELETES]);
    await parts.program.remove(WITHOUT_DELETES, { k: "a" });
    const time = await laterTime(store);
    await parts.tables.prepare([ITEMS]);
    const { earliestAvailable } = await items.page();
    expect(Date.parse(earliestAvailable)).toBeGreaterThanOrEqual(Date.parse(time));
    expect(await items.listed(place)).toEqual([]);
    await items.insert({ k: "b", at: at(store, -10), v: 1 });
    await items.remove("b");
    expect((await items.listed(place)).map(([k]) => k)).toEqual(["b"]);
  });

  it("D-7.6 another upsert key of an empty table begins a new list", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    await items.bury("a", at(store, -10));
    const after = await items.end();
    const time = await laterTime(store);
    const columns = ITEMS.columns.map((column) => ({ ...column, isKey: column.name === "v" }));
    const other = { ...ITEMS, columns, keyColumns: columns.filter(({ isKey }) => isKey) };
    await parts.tables.prepare([other]);
    const query = { after: null, sinceTime: null, limitRows: 10 };
    const page = await parts.tombstones.list(other, query);
    expect(page.items).toEqual([]);
    expect(Date.parse(page.earliestAvailable)).toBeGreaterThanOrEqual(Date.parse(time));
    await expect(parts.tombstones.list(other, { ...query, after })).rejects.toMatchObject({
      kind: "invalid_request",
    });
  });
}

function sharingTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  it("D-7.6 instances share tombstones, and a place is the same to all", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const other = await ItemsWithDeletes.prepare(await openSecond(store));
    await items.bury("a", at(store, -10));
    const place = await other.end();
    expect(await other.listed()).toEqual([["a", at(store, -10)]]);
    await other.bury("b", at(store, -10));
    expect(await items.listed(place)).toEqual([["b", at(store, -10)]]);
    const row = { k: "a", at: at(store, -20), v: 1 };
    expect((await other.write([row], { conflict: "newer" })).kept).toEqual([0]);
  });

  it("D-7.6 a reader who goes on from place to place misses none of what several write at once", async (parts, store) => {
    const items = await ItemsWithDeletes.prepare(parts);
    const instances = [items, await ItemsWithDeletes.prepare(await openSecond(store))];
    const time = at(store, -10);
    let isWriting = true;
    const writing = Promise.all(
      instances.map(async (instance, number) => {
        for (let n = 0; n < 25; n++) await instance.bury(`${number}-${n}`, time);
      }),
    ).finally(() => {
      isWriting = false;
    });
    const seen = new Set<unknown>();
    let after: string | null = null;
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      for (;;) {
        const page = await items.page({ after, limitRows: 7 });
        for (const { key } of page.items) seen.add(key["k"]);
        after = page.cursor;
        if (!page.hasMore) break;
      }
      await nextTurn();
    }
    await writing;
    expect(seen.size).toBe(50);
  });
}

/** A time after everything that was done so far, and not after anything that is done next. */
async function laterTime(store: OpenedStore<unknown>): Promise<string> {
  const before = store.nowMs();
  while (store.nowMs() <= before) await store.advance(1);
  return formatMs(store.nowMs());
}

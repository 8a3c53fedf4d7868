import { describe, expect } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { formatMs } from "../../../src/domain/shared/time.ts";
import { FIRST_STAMP } from "../../../src/domain/sync/rows/row-time.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import { LATE_ROWS } from "../../../src/repositories/run-collections.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { readPage } from "../../support/rows/read-rows.ts";
import { type WriteToOptions, writeTo } from "../../support/rows/write-to.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";
import { asWrites } from "./table-under-test.ts";

type Parts = Pick<RunStorage, "tables" | "documents" | "lateRows" | "close">;

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  lag_seconds: 3600,
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
};
const ITEMS = makeTable(ENTRY);
const OTHERS = makeTable(ENTRY, "others");
const KEEPING = makeTable({ ...ENTRY, update_columns: ["v"] }, "keeping");
const STAMPED = makeTable({ ...ENTRY, stamped: true }, "stamped");
const DAYS = makeTable({ ...ENTRY, columns: { ...ENTRY.columns, at: { type: "date" } } }, "days");

/** What every `LateRows` does, and what `write()` notes. */
export function lateRowsContract(harness: StoreHarness<Parts>): void {
  describe(`${harness.name}: late rows`, () => {
    noteTests(harness);
    keptTests(harness);
    markTests(harness);
    historyTests(harness);
    if (harness.options.isShared) sharingTests(harness);
  });
}

function noteTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.4 a row is noted when its time is further back than the lag of its table", async (storage, store) => {
    const table = await prepare(storage);
    const nowMs = store.nowMs();
    const hoursAgo = (hours: number) => formatMs(nowMs - hours * 3_600_000);
    const look = await table.mark();
    await table.write(["a", hoursAgo(0)], ["b", hoursAgo(0.9)], ["c", hoursAgo(-1)]);
    expect(await look()).toBe(null);
    await table.write(["d", hoursAgo(1.1)]);
    expect(await look()).toBe(hoursAgo(1.1));
    await table.write(
      ["e", hoursAgo(30)],
      ["f", "2001-02-03T04:05:06.000789Z"],
      ["g", hoursAgo(9)],
    );
    expect(await look()).toBe("2001-02-03T04:05:06.000789Z");
    await table.write(["h", hoursAgo(2)]);
    expect(await look()).toBe("2001-02-03T04:05:06.000789Z");
  });

  it("D-7.4 a row of a table by date is noted when its day ended before the lag", async (storage, store) => {
    const table = await prepare(storage, DAYS);
    const daysAgo = (days: number) => formatMs(store.nowMs() - days * 86_400_000).slice(0, 10);
    const look = await table.mark();
    await table.write(["a", daysAgo(0)], ["b", daysAgo(-3)]);
    expect(await look()).toBe(null);
    await table.write(["c", daysAgo(2)]);
    expect(await look()).toBe(`${daysAgo(2)}T00:00:00Z`);
  });

  it("D-7.4 a row without a readable time is not noted", async (storage) => {
    const table = await prepare(storage);
    const look = await table.mark();
    await table.write(["a", null], ["b", "soon"], ["c", "2024-02-30T00:00:00Z"]);
    expect(await look()).toBe(null);
    await table.write(["d", day(1)], ["e", null]);
    expect(await look()).toBe(day(1));
  });

  it("D-7.4 a row that keeps its time when it changes is noted with that", async (storage) => {
    const table = await prepare(storage, KEEPING);
    await table.write(["a", day(1)]);
    const look = await table.mark();
    await table.write(["a", day(5), 2], ["b", day(4)]);
    expect(await look()).toBe(day(1));
  });

  it("D-7.4 a row that does not change is not noted, and one that changes is", async (storage) => {
    const table = await prepare(storage);
    await table.write(["a", day(1)], ["b", day(2)]);
    const look = await table.mark();
    await table.write(["a", day(1)], ["b", day(2)]);
    expect(await look()).toBe(null);
    await table.write(["a", day(1)], ["b", day(2), 7]);
    expect(await look()).toBe(day(2));
    await table.write(["b", day(1)]);
    expect(await look()).toBe(day(1));
  });

  it("D-7.4 what an own run brings is noted for others, not for pushes to where it came from", async (storage) => {
    const table = await prepare(storage);
    const look = await table.mark();
    const lookForPush = await table.mark(true);
    await table.writeWith({ isOwnRun: true }, ["a", day(1)]);
    expect([await look(), await lookForPush()]).toEqual([day(1), null]);
    await table.write(["b", day(3)]);
    expect([await look(), await lookForPush()]).toEqual([day(1), day(3)]);
    await table.writeWith({ isOwnRun: true }, ["c", day(2)]);
    expect([await look(), await lookForPush()]).toEqual([day(1), day(3)]);
    await table.write(["d", day(2)]);
    expect([await look(), await lookForPush()]).toEqual([day(1), day(2)]);
  });

  it("D-7.4 a refused record is not noted", async (storage) => {
    const table = await prepare(storage);
    const look = await table.mark();
    const writes = [
      { index: 0, row: { k: "a", at: day(1), v: 1 }, refusedIfNew: "v may not be null" },
      { index: 1, row: { k: "b", at: day(2), v: 1 } },
    ];
    await writeTo(storage, ITEMS, writes);
    expect(await look()).toBe(day(2));
  });
}

function keptTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  for (const isOwnRun of [false, true]) {
    const who = isOwnRun ? "an own run" : "a push";
    it(`D-7.4 a row that stays because it is newer than what ${who} brings is noted for all`, async (storage) => {
      const table = await prepare(storage);
      await table.write(["a", day(5)], ["b", day(4)], ["c", day(1)]);
      const look = await table.mark();
      const lookForPush = await table.mark(true);
      const options: WriteToOptions = { conflict: "newer", isOwnRun };
      await table.writeWith(options, ["a", day(3), 2], ["c", day(1)]);
      expect([await look(), await lookForPush()]).toEqual([day(5), day(5)]);
      await table.writeWith(options, ["b", null, 2]);
      expect([await look(), await lookForPush()]).toEqual([day(4), day(4)]);
    });
  }

  it("D-7.4 a row of now that stays is noted too", async (storage, store) => {
    const table = await prepare(storage);
    const now = formatMs(store.nowMs());
    await table.write(["a", now]);
    const look = await table.mark();
    await table.writeWith({ conflict: "newer" }, ["a", day(3), 2]);
    expect(await look()).toBe(now);
  });

  it("D-7.4, D-14.2.4 a row that stays before one of the first stamp is noted too", async (storage) => {
    const table = await prepare(storage, STAMPED);
    await table.write(["a", day(2)]);
    const look = await table.mark();
    await table.writeWith({ conflict: "newer" }, ["a", FIRST_STAMP, 2]);
    expect(await look()).toBe(day(2));
  });
}

function markTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.4 a mark knows only what was noted after it", async (storage) => {
    const table = await prepare(storage);
    await table.write(["a", day(1)]);
    const first = await table.mark();
    expect(await first()).toBe(null);
    await table.write(["b", day(3)]);
    const second = await table.mark();
    await table.write(["c", day(5)]);
    const third = await table.mark();
    expect([await first(), await second(), await third()]).toEqual([day(3), day(5), null]);
    await table.write(["d", day(4)]);
    expect([await first(), await second(), await third()]).toEqual([day(3), day(4), day(4)]);
    await table.write(["e", day(2)]);
    expect([await first(), await second(), await third()]).toEqual([day(2), day(2), day(2)]);
  });

  it("D-7.4 a mark stands behind all that was noted before, however many commits nobody has read", async (storage) => {
    const table = await prepare(storage);
    const look = await table.mark();
    await storage.documents.transact({ name: "test.note" }, async (tx) => {
      for (let n = 0; n <= 1_000; n++) {
        const byOthers = n < 1_000 ? day(2) : day(1);
        tx.put(LATE_ROWS, { table: ITEMS.name, id: `${1_000 + n}`, byOwnRuns: null, byOthers });
      }
    });
    expect(await look()).toBe(day(1));
  });

  it("D-7.4 tables have marks of their own", async (storage) => {
    const items = await prepare(storage);
    const others = await prepare(storage, OTHERS);
    const looks = [await items.mark(), await others.mark()];
    await items.write(["a", day(3)]);
    expect(await Promise.all(looks.map((look) => look()))).toEqual([day(3), null]);
    await others.write(["a", day(5)]);
    expect(await Promise.all(looks.map((look) => look()))).toEqual([day(3), day(5)]);
  });

  it("D-7.4 without a mark nothing is told, and for one that this store never gave the start", async (storage) => {
    const table = await prepare(storage);
    await table.write(["a", day(1)]);
    const from = async (lateAfter: string | null) =>
      (await storage.lateRows.read(ITEMS, { lateAfter, isForOwnPush: false })).from;
    expect(await from(null)).toBe(null);
    for (const mark of ["", "0", "-1", "1e3", "999999999", "unknown", "é\0'", "9".repeat(400)]) {
      expect(await from(mark)).toBe("");
    }
  });

  it("D-7.4 a mark of another store was never given", async (storage) => {
    const table = await prepare(storage);
    await table.write(["a", day(1)]);
    await table.write(["b", day(2)]);
    const other = await harness.open();
    try {
      const second = await prepare(other.storage);
      await second.write(["a", day(1)]);
      const query = { lateAfter: null, isForOwnPush: false };
      const { mark } = await other.storage.lateRows.read(ITEMS, query);
      const { from } = await storage.lateRows.read(ITEMS, { ...query, lateAfter: mark });
      expect(from).toBe("");
    } finally {
      await other.dispose();
    }
  });

  it("D-7.4 marks stay when a table is prepared again", async (storage) => {
    const table = await prepare(storage);
    await table.write(["a", day(1)]);
    const look = await table.mark();
    await prepare(storage);
    expect(await look()).toBe(null);
    await table.write(["b", day(2)]);
    expect(await look()).toBe(day(2));
  });
}

function historyTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);
  let tables = 0;

  it("D-7.4 after any writes every mark gives the earliest time noted since", async (storage) => {
    const step = fc.record({ days: fc.array(fc.integer({ min: 1, max: 9 })), own: fc.boolean() });
    await checkAsyncProperty(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const table = await prepare(storage, makeTable(ENTRY, `late_${tables++}`));
        const looks = [];
        for (const [n, { days, own }] of steps.entries()) {
          looks.push({ all: await table.mark(), push: await table.mark(true) });
          const rows = days.map((d, i): LateRow => [`${n} ${i}`, day(d)]);
          await table.writeWith({ isOwnRun: own }, ...rows);
        }
        for (const [n, look] of looks.entries()) {
          const since = steps.slice(n);
          const earliest = (days: readonly number[]) =>
            days.length === 0 ? null : day(Math.min(...days));
          expect(await look.all()).toBe(earliest(since.flatMap(({ days }) => days)));
          const foreign = since.filter(({ own }) => !own);
          expect(await look.push()).toBe(earliest(foreign.flatMap(({ days }) => days)));
        }
      }),
      Math.min(harness.options.randomRuns, 25),
    );
  });
}

function sharingTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.4 a mark outlives the instance that gave it, and holds for the others", async (storage, store) => {
    const other = await openSecond(store);
    const table = await prepare(storage);
    await table.write(["a", day(1)]);
    const { mark } = await storage.lateRows.read(ITEMS, { lateAfter: null, isForOwnPush: false });
    await storage.close();
    const second = await prepare(other);
    const from = async () =>
      (await other.lateRows.read(ITEMS, { lateAfter: mark, isForOwnPush: false })).from;
    expect(await from()).toBe(null);
    await second.write(["b", day(2)]);
    expect(await from()).toBe(day(2));
  });

  it("D-7.4 a row that a reader misses is noted after the mark that it took before", async (storage, store) => {
    const other = await openSecond(store);
    const [here, there] = [await prepare(storage), await prepare(other)];
    const reader = await openSecond(store);
    let isWriting = true;
    // Each row is earlier than those before it, so that a mark has to have all rows that come after it.
    const minute = (n: number) => formatMs(Date.parse("2024-01-02T00:00:00Z") - n * 60_000);
    const writing = Promise.all(
      [here, there].map(async (writer, side) => {
        for (let n = 0; n < 40; n++) await writer.write([`${side} ${n}`, minute(n)]);
      }),
    ).then(() => {
      isWriting = false;
    });
    const readings: { readonly mark: string; readonly seen: ReadonlySet<unknown> }[] = [];
    const everything = { sinceTime: null, offsetRows: 0, limitRows: 1000 };
    const marking = { lateAfter: null, isForOwnPush: false };
    while (isWriting) {
      const { mark } = await reader.lateRows.read(ITEMS, marking);
      const { rows } = await readPage(reader.tables, ITEMS, everything);
      readings.push({ mark, seen: new Set(rows.map(({ k }) => k)) });
      await nextTurn();
    }
    await writing;
    const { rows } = await readPage(reader.tables, ITEMS, everything);
    expect(rows.length).toBe(80);
    for (const { mark, seen } of readings) {
      const missed = rows.filter(({ k }) => !seen.has(k)).map((row) => String(row["at"]));
      const { from } = await reader.lateRows.read(ITEMS, { ...marking, lateAfter: mark });
      if (missed.length === 0) continue;
      expect(from).not.toBe(null);
      expect(String(from) <= String(missed.toSorted()[0])).toBe(true);
    }
  });
}

/** A key, a time and, where it matters, a value. */
type LateRow = readonly [k: string, at: string | null, v?: number];

async function prepare(storage: Parts, table: Table = ITEMS) {
  await storage.tables.prepare([table]);
  const writeWith = async (options: WriteToOptions, ...rows: readonly LateRow[]) => {
    const writes = asWrites(rows.map(([k, at, v = 1]) => ({ k, at, v })));
    await writeTo(storage, table, writes, options);
  };
  return {
    writeWith,
    write: (...rows: readonly LateRow[]) => writeWith({}, ...rows),
    /** Takes a mark. Returns how to ask what was noted since. */
    async mark(isForOwnPush = false) {
      const { mark } = await storage.lateRows.read(table, { lateAfter: null, isForOwnPush });
      return async () =>
        (await storage.lateRows.read(table, { lateAfter: mark, isForOwnPush })).from;
    },
  };
}

function day(n: number): string {
  return `2024-01-0${n}T00:00:00Z`;
}

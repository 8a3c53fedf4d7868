import { describe, expect } from "bun:test";
import { formatMs } from "../../../src/domain/shared/time.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { ConflictRule, Row } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { type WrittenTo, writeTo } from "../../support/rows/write-to.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import { type StoreHarness, storeTests } from "../harness.ts";
import { heldRows } from "../held-values.ts";
import { TableUnderTest } from "./table-under-test.ts";

type Parts = Pick<RunStorage, "tables" | "documents">;

/** A time: text as it is, or minutes from the store's now. */
type TestTime = string | number | null;

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
};
const TEXT = { type: "text" } as const;
const ITEMS = makeTable(ENTRY);
const GUARDED = makeTable({ ...ENTRY, conflict: "newer" });
const BOTH_RULES: readonly (readonly [string, TableEntry, { conflict?: ConflictRule }])[] = [
  ["asked for", ENTRY, { conflict: "newer" }],
  ["of the table", { ...ENTRY, conflict: "newer" }, {}],
];

/** What is here, what arrives, and whether the one here stays. Times more than 5 minutes ahead rank below the others. */
const RANKS: readonly (readonly [string, here: TestTime, arriving: TestTime, stays: boolean])[] = [
  ["an older one", -60, -61, true],
  ["one that is 1 µs older", "2024-01-02T00:00:00.000001Z", "2024-01-02T00:00:00Z", true],
  ["an equal one", -60, -60, false],
  ["one of 1970", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", false],
  ["one that is 1 µs newer", "2024-01-02T00:00:00.001Z", "2024-01-02T00:00:00.001001Z", false],
  ["a newer one", -60, -1, false],
  ["one without a time, over one with", -60, null, true],
  ["one with a time, over one without", null, "0001-01-01T00:00:00Z", false],
  ["one without a time, over another", null, null, false],
  ["an unreadable time, over a time", -60, "soon", true],
  ["a time, over an unreadable one", "2024-02-30T00:00:00Z", -60, false],
  ["an unreadable time, over none", null, "soon", false],
  ["one without a time, over an unreadable one", "soon", null, false],
  ["one 3 minutes ahead, over one of now", 0, 3, false],
  ["one of now, over one 3 minutes ahead", 3, 0, true],
  ["one 9 minutes ahead, over an old one", "2001-01-01T00:00:00Z", 9, true],
  ["an old one, over one 9 minutes ahead", 9, "2001-01-01T00:00:00Z", false],
  ["one 9 minutes ahead, over one 3 minutes ahead", 3, 9, true],
  ["one 3 minutes ahead, over one of year 9999", "9999-12-31T23:59:59.999999Z", 3, false],
  ["of two ahead the later one", 9, 30, false],
  ["of two ahead the earlier one", 30, 9, true],
  ["of two ahead an equal one", 9, 9, false],
  ["one without a time, over one 9 minutes ahead", 9, null, true],
  ["one 9 minutes ahead, over one without a time", null, 9, false],
];

/** The guard of runs, guarded pushes and tables with `conflict: newer`. */
export function tableGuardTests(harness: StoreHarness<Parts>): void {
  describe(`${harness.name}: guarded writes`, () => {
    for (const [rule, entry, options] of BOTH_RULES) rankTests(harness, rule, { entry, options });
    scopeTests(harness);
    batchTests(harness);
  });
}

function rankTests(
  harness: StoreHarness<Parts>,
  rule: string,
  { entry, options }: { entry: TableEntry; options: { conflict?: ConflictRule } },
): void {
  const it = storeTests(harness);

  it(`D-3.9, D-7.1 a guard ${rule} writes what ranks at or above the row here, and no other`, async (storage, store) => {
    const definition = makeTable(entry);
    const table = await TableUnderTest.prepare(storage, definition);
    const nowMs = store.nowMs();
    const heldRow = (k: string, at: TestTime, v: number) =>
      heldRows(harness, definition, [{ k, at: timeOf(nowMs, at), v }])[0] as Row;
    const rows = RANKS.map(([k, here, arriving, stays]) => ({
      here: heldRow(k, here, 1),
      arriving: heldRow(k, arriving, 2),
      stays,
    }));
    await table.write(...rows.map(({ here }) => here));
    const outcome = await table.writeWith(options, ...rows.map(({ arriving }) => arriving));
    const expected = rows.map(({ here, arriving, stays }) => (stays ? here : arriving));
    expect(byKey(await table.rows())).toEqual(byKey(expected));
    const kept = rows.flatMap(({ stays }, index) => (stays ? [index] : []));
    const told = { failures: [], changed: rows.length - kept.length, deleted: 0 };
    expect({ ...outcome, kept: inOrder(outcome.kept) }).toEqual({ ...told, kept });
  });

  it(`D-7.7 a guard ${rule} keeps out a refused record that ranks below the row here, and no other is written`, async (storage, store) => {
    const definition = makeTable(entry);
    const table = await TableUnderTest.prepare(storage, definition);
    const nowMs = store.nowMs();
    const rowsAt = (times: readonly TestTime[]) =>
      heldRows(
        harness,
        definition,
        times.map((at, i) => ({ k: RANKS[i]?.[0] ?? "", at: timeOf(nowMs, at), v: 1 })),
      );
    const here = rowsAt(RANKS.map(([, at]) => at));
    await table.write(...here);
    const places = rowsAt(RANKS.map(([, , at]) => at)).map(({ v: _, ...place }) => place);
    const writes = [...places, { k: "new", at: timeOf(nowMs, -1) }].map((row, index) => ({
      ...{ index, row, refused: "Not this" },
    }));
    const indexes = RANKS.map((_, index) => index);
    const kept = indexes.filter((index) => RANKS[index]?.[3] === true);
    const failed = [...indexes, RANKS.length].filter((index) => !kept.includes(index));
    const failures = failed.map((index) => ({ index, message: "Not this" }));
    const outcome = await writeTo(storage, definition, writes, options);
    expect(told(outcome)).toEqual({ failures, kept, changed: 0, deleted: 0 });
    const all = writes.map(({ index }) => ({ index, message: "Not this" }));
    const restored = await writeTo(storage, definition, writes, { conflict: "restore" });
    expect(told(restored)).toEqual({ failures: all, kept: [], changed: 0, deleted: 0 });
    expect(byKey(await table.rows())).toEqual(byKey(here));
  });

  it(`D-7.1 a guard ${rule} ranks days`, async (storage, store) => {
    const table = await TableUnderTest.prepare(
      storage,
      makeTable({ ...entry, columns: { ...entry.columns, at: { type: "date" } } }),
    );
    const ahead = formatMs(store.nowMs() + 2 * 86_400_000).slice(0, 10);
    await table.write(
      { k: "a", at: "2024-01-10", v: 1 },
      { k: "b", at: "2024-01-10", v: 1 },
      { k: "c", at: ahead, v: 1 },
    );
    const outcome = await table.writeWith(
      options,
      { k: "a", at: "2024-01-09", v: 2 },
      { k: "b", at: "2024-01-10", v: 2 },
      { k: "c", at: "2024-01-10", v: 2 },
    );
    expect(outcome).toEqual({ failures: [], kept: [0], changed: 2, deleted: 0 });
    expect(byKey(await table.rows())).toEqual([
      { k: "a", at: "2024-01-10", v: 1 },
      { k: "b", at: "2024-01-10", v: 2 },
      { k: "c", at: "2024-01-10", v: 2 },
    ]);
  });
}

function scopeTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);
  const here = { k: "a", at: "2024-01-02T00:00:00Z", v: 1 };
  const older = { k: "a", at: "2024-01-01T00:00:00Z", v: 2 };

  it("D-7.1 a write that asks for no guard overwrites a newer row", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write(here);
    const outcome = await table.writeWith({}, older);
    expect(outcome).toEqual({ failures: [], kept: [], changed: 1, deleted: 0 });
    expect(await table.rows()).toEqual([older]);
  });

  it("D-7.1 a write may ask a table with conflict newer to overwrite", async (storage) => {
    const table = await TableUnderTest.prepare(storage, GUARDED);
    await table.write(here);
    const outcome = await table.writeWith({ conflict: "overwrite" }, older);
    expect(outcome).toEqual({ failures: [], kept: [], changed: 1, deleted: 0 });
    expect(await table.rows()).toEqual([older]);
  });

  const unversioned: readonly (readonly [string, Partial<TableEntry>, unknown, number])[] = [
    ["without update columns", { update_columns: [] }, here, 0],
    ["that does not update its time", { update_columns: ["v"] }, { ...here, v: 2 }, 1],
    ["without a time", { timestamp_column: null }, older, 1],
  ];
  for (const [what, changes, expected, changed] of unversioned) {
    it(`D-7.3 a table ${what} has no guard`, async (storage) => {
      const table = await TableUnderTest.prepare(storage, makeTable({ ...ENTRY, ...changes }));
      await table.write(here);
      const outcome = await table.writeWith({ conflict: "newer" }, older);
      expect(outcome).toEqual({ failures: [], kept: [], changed, deleted: 0 });
      expect(await table.rows()).toEqual([expected as typeof here]);
    });
  }

  it("D-7.3 a table with conflict newer that does not update its time has no guard", async (storage) => {
    const updated = [
      { columns: ["v"], expected: { ...here, v: 2 } },
      { columns: [], expected: here },
    ];
    for (const { columns, expected } of updated) {
      const entry: TableEntry = { ...ENTRY, conflict: "newer", update_columns: columns };
      const table = await TableUnderTest.prepare(storage, makeTable(entry, `v${columns.length}`));
      await table.write(here);
      expect((await table.writeWith({}, older)).kept).toEqual([]);
      expect(await table.rows()).toEqual([expected]);
    }
  });
}

function batchTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);
  const day = (n: number) => `2024-01-0${n}T00:00:00Z`;

  it("D-3.6 a guard compares records of one key one after the other", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "b", at: day(3), v: 0 });
    const outcome = await table.writeWith(
      { conflict: "newer" },
      { k: "a", at: day(1), v: 1 },
      { k: "b", at: day(2), v: 2 },
      { k: "a", at: day(3), v: 3 },
      { k: "a", at: day(2), v: 4 },
      { k: "b", at: day(4), v: 5 },
      { k: "a", at: day(3), v: 6 },
      { k: "a", at: null, v: 7 },
    );
    expect(inOrder(outcome.kept)).toEqual([1, 3, 6]);
    expect(byKey(await table.rows())).toEqual([
      { k: "a", at: day(3), v: 6 },
      { k: "b", at: day(4), v: 5 },
    ]);
  });

  it("D-7.1 a guard tells keys apart that look alike", async (storage) => {
    const names = ["a", "b", "c"];
    const columns = { ...ENTRY.columns, ...Object.fromEntries(names.map((n) => [n, TEXT])) };
    const entry = { ...ENTRY, upsert_key: names, columns };
    const table = await TableUnderTest.prepare(storage, makeTable(entry));
    const keys = ["x|yz|", "xy|z|", "x|y|z", "|xyz|", "||xyz", "1:x|y|"].map((key) =>
      key.split("|"),
    );
    const rows = (at: string) => keys.map(([a, b, c]) => ({ a: a!, b: b!, c: c!, at, v: 1 }));
    await table.write(...rows(day(2)));
    const { kept, changed } = await table.writeWith({ conflict: "newer" }, ...rows(day(1)));
    expect([inOrder(kept), changed]).toEqual([[0, 1, 2, 3, 4, 5], 0]);
  });

  it("D-7.1 kept names records by their position in the request", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", at: day(3), v: 1 }, { k: "c", at: day(3), v: 1 });
    const writes = [
      { index: 2, row: { k: "a", at: day(1), v: 2 } },
      { index: 5, row: { k: "b", at: day(1), v: 2 } },
      { index: 9, row: { k: "c", at: day(2), v: 2 } },
    ];
    const outcome = await writeTo(storage, ITEMS, writes, { conflict: "newer" });
    expect({ ...outcome, kept: inOrder(outcome.kept) }).toEqual({
      ...{ failures: [], kept: [2, 9], changed: 1, deleted: 0 },
    });
  });

  it("D-7.1 a guarded write of many rows keeps and writes each by its own time", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const rows = (minute: number, v: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...{ k: `k${n}`, v },
        at: `2024-01-01T00:${String((n * minute) % 60).padStart(2, "0")}:00Z`,
      }));
    const [before, arriving] = [rows(7, 1, 1500), rows(13, 2, 2000)];
    await table.write(...before);
    const outcome = await table.writeWith({ conflict: "newer" }, ...arriving);
    const isKept = (n: number) => n < 1500 && (n * 7) % 60 > (n * 13) % 60;
    const kept = arriving.flatMap((_, n) => (isKept(n) ? [n] : []));
    expect(inOrder(outcome.kept)).toEqual(kept);
    expect(outcome.changed).toBe(2000 - kept.length);
    const versions = new Map((await table.rows()).map(({ k, v }) => [k, v]));
    arriving.forEach(({ k }, n) => {
      expect(versions.get(k)).toBe(isKept(n) ? 1 : 2);
    });
  });
}

function timeOf(nowMs: number, time: TestTime): string | null {
  return typeof time === "number" ? formatMs(nowMs + time * 60_000) : time;
}

function told({ failures, kept, ...others }: WrittenTo): WrittenTo {
  const sorted = failures.toSorted((a, b) => a.index - b.index);
  return { ...others, failures: sorted, kept: inOrder(kept) };
}

function inOrder(positions: readonly number[]): number[] {
  return positions.toSorted((a, b) => a - b);
}

function byKey<Row extends { readonly k?: unknown }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => (String(a.k) < String(b.k) ? -1 : 1));
}

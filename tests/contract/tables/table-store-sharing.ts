import { describe, expect } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";
import { TableUnderTest } from "./table-under-test.ts";

const EVENTS = makeTable({
  timestamp_column: "at",
  upsert_key: ["n"],
  columns: {
    id: { type: "integer", auto_increment: true },
    n: { type: "integer" },
    at: { type: "datetime" },
    batch: { type: "integer" },
  },
});
const ROWS_PER_BATCH = 7;

/** Two instances on one store. */
export function tableSharingTests(harness: StoreHarness): void {
  describe(`${harness.name}: two instances`, () => {
    visibilityTests(harness);
    concurrencyTests(harness);
  });
}

function visibilityTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("D-3.4 pages stay exact when the other instance moves rows between them", async (storage, store) => {
    const reader = await TableUnderTest.prepare(storage, EVENTS);
    const writer = new TableUnderTest(await openSecond(store), EVENTS);
    const row = (n: number, at: string) => ({ n, at: `2024-01-01T00:00:${at}Z`, batch: 0 });
    await writer.write(...Array.from({ length: 60 }, (_, n) => row(n, String(n).padStart(2, "0"))));
    const numbers = (offsetRows: number) => reader.column("n", { offsetRows, limitRows: 3 });
    expect(await numbers(10)).toEqual([10, 11, 12]);
    expect(await numbers(13)).toEqual([13, 14, 15]);
    await writer.write(row(0, "59.500"));
    expect(await numbers(16)).toEqual([17, 18, 19]);
    expect(await numbers(13)).toEqual([14, 15, 16]);
    await writer.write(row(59, "00"));
    expect(await numbers(16)).toEqual([16, 17, 18]);
    expect(await numbers(57)).toEqual([57, 58, 0]);
    await writer.write(row(99, "16"));
    expect(await numbers(16)).toEqual([16, 99, 17]);
  });

  it("D-3.4, D-14.6 pages have the order of another timestamp column as soon as each instance has it", async (storage, store) => {
    const stores = [storage, await openSecond(store)];
    const [byAt, byTo] = ["at", "to"].map((timestamp_column) =>
      makeTable({
        ...{ timestamp_column, upsert_key: ["n"] },
        columns: { n: { type: "integer" }, at: { type: "datetime" }, to: { type: "datetime" } },
      }),
    ) as [Table, Table];
    const on = (day: number) => `2024-01-${day + 10}T00:00:00Z`;
    const before = stores.map((one) => new TableUnderTest(one, byAt));
    await TableUnderTest.prepare(storage, byAt);
    await before[0]?.write(
      ...Array.from({ length: 9 }, (_, n) => ({ n, at: on(n), to: on(9 - n) })),
    );
    const page = { offsetRows: 3, limitRows: 3, sinceTime: on(2) };
    for (const table of before) expect(await table.column("n", page)).toEqual([5, 6, 7]);
    for (const [i, one] of stores.entries()) {
      // After the other has prepared it.
      await before[i]?.column("n", page);
      const after = await TableUnderTest.prepare(one, byTo);
      expect(await after.column("n", page)).toEqual([4, 3, 2]);
    }
  });

  it("D-2.4 an instance goes on after the other added a column", async (storage, store) => {
    const before = await TableUnderTest.prepare(storage, EVENTS);
    await before.write({ n: 1, at: null, batch: 1 });
    const definition = makeTable({
      timestamp_column: "at",
      upsert_key: ["n"],
      columns: { ...columnsOf(), extra: { type: "text" } },
    });
    const after = await TableUnderTest.prepare(await openSecond(store), definition);
    await after.write({ n: 2, at: null, batch: 1, extra: "x" });
    await before.write({ n: 2, at: null, batch: 2 });
    expect(await before.column("batch")).toEqual([1, 2]);
    expect(await after.column("extra")).toEqual([null, "x"]);
  });
}

function concurrencyTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("D-3.8 a reader never sees a part of a write, nor a total of another moment", async (storage, store) => {
    const reader = await TableUnderTest.prepare(storage, EVENTS);
    const writer = new TableUnderTest(await openSecond(store), EVENTS);
    let isWriting = true;
    const writing = (async () => {
      for (let step = 0; step < 30; step++)
        await writer.write(...batchRows(step, step * ROWS_PER_BATCH));
      for (let step = 0; step < 30; step++) await writer.write(...batchRows(100 + step, 0));
      isWriting = false;
    })();
    do {
      const { rows, totalRows } = await reader.page();
      expect(totalRows).toBe(rows.length);
      for (const count of rowsByBatch(rows).values()) expect(count).toBe(ROWS_PER_BATCH);
      await nextTurn();
    } while (isWriting);
    await writing;
    expect(await reader.count()).toBe(30 * ROWS_PER_BATCH);
  });

  it("D-3.8 writes of two instances to the same keys are each written whole", async (storage, store) => {
    const here = await TableUnderTest.prepare(storage, EVENTS);
    const there = new TableUnderTest(await openSecond(store), EVENTS);
    const writes = Array.from({ length: 20 }, (_, step) => async () => {
      const table = step % 2 === 0 ? here : there;
      const rows = batchRows(step, 0);
      // In either order, so that each may have what the other waits for.
      const shared = step % 4 < 2 ? rows : rows.toReversed();
      await table.write(...shared, { n: 100 + step, at: null, batch: -1 });
    });
    await Promise.all(writes.map((write) => write()));
    const rows = await here.rows();
    expect(rows).toEqual(await there.rows());
    expect(rows.length).toBe(ROWS_PER_BATCH + 20);
    expect(rowsByBatch(rows).size).toBe(2);
    expect(new Set(rows.map((row) => row["id"])).size).toBe(ROWS_PER_BATCH + 20);
  });
}

/** A batch of rows from a key on, all marked with its number. */
function batchRows(batch: number, firstKey: number): Row[] {
  return Array.from({ length: ROWS_PER_BATCH }, (_, i) => ({
    n: firstKey + i,
    at: `2024-01-01T00:00:0${i}Z`,
    batch,
  }));
}

function rowsByBatch(rows: readonly Row[]): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const { batch } of rows) counts.set(batch, (counts.get(batch) ?? 0) + 1);
  return counts;
}

function columnsOf() {
  return Object.fromEntries(
    EVENTS.columns.map(({ name, type, autoIncrement }) => [
      name,
      { type, auto_increment: autoIncrement },
    ]),
  );
}

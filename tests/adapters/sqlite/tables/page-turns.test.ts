// Large pages are read with turns for others in between, and are of one moment all the same. D-3.4, D-7.9.

import { expect, test } from "bun:test";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { HurriedClock } from "../../../support/time/fake-clock.ts";
import { SqliteFile } from "../support.ts";

const table = makeTable({
  upsert_key: ["n"],
  columns: { n: { type: "integer" }, body: { type: "text" } },
});
const ROWS = 100;

async function openFilled(): Promise<SqliteStorage> {
  const storage = await SqliteStorage.open(openBunSqlite, ":memory:", {
    collections: COLLECTIONS,
    clock: new HurriedClock(),
  });
  await storage.tables.prepare([table]);
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n, body: "x".repeat(500_000) }));
  await writeTo(storage, table, asWrites(rows));
  return storage;
}

/** Counts the turns of others while a page of all rows is read; `meanwhile` is done in each. */
async function readMeanwhile(storage: SqliteStorage, meanwhile: (turn: number) => unknown) {
  let isRead = false;
  let turns = 0;
  const reading = readPage(storage.tables, table, {
    sinceTime: null,
    offsetRows: 0,
    limitRows: 1_000,
  }).finally(() => {
    isRead = true;
  });
  while (!isRead) {
    await meanwhile(turns);
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  return { ...(await reading), turns };
}

test("D-7.9 page() of large rows lets others have their turn", async () => {
  const storage = await openFilled();
  const { rows, totalRows, turns } = await readMeanwhile(storage, () => {});
  expect([rows.length, totalRows]).toEqual([ROWS, ROWS]);
  // 16 rows, then some four megabytes at a time.
  expect(turns).toBeGreaterThan(8);
  await storage.close();
});

test("D-3.4, D-7.9 page() is of one moment, whatever is written in the turns of others", async () => {
  const storage = await openFilled();
  let next = -1;
  const { rows, totalRows } = await readMeanwhile(storage, async () => {
    await writeTo(storage, table, asWrites([{ n: next--, body: "new" }]));
  });
  expect(rows.length).toBe(totalRows);
  expect(rows.map(({ n }) => n)).toEqual(
    Array.from({ length: totalRows }, (_, i) => i + ROWS - totalRows),
  );
  await storage.close();
});

test("D-7.9 reads that follow one another, each of which takes long, let others have their turn", () =>
  SqliteFile.use(async (file) => {
    const { tables } = await file.open({ clock: new HurriedClock() });
    await tables.prepare([table]);
    let turns = 0;
    const watch = () => {
      turns++;
      watching = setImmediate(watch);
    };
    let watching = setImmediate(watch);
    for (let n = 0; n < 8; n++) await tables.count(table);
    clearImmediate(watching);
    expect(turns).toBeGreaterThanOrEqual(8);
  }));

// One scenario for both drivers: prints all that a caller gets to see, a line for each step.
// Arguments: a file that does not exist yet, and the seed of the random parts.

import fc from "fast-check";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { COLUMN_TYPES } from "../../../../src/domain/sync/table/column-types.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import type { FullStorage } from "../../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import {
  arbitraryEntry,
  arbitraryRows,
  arbitraryValue,
} from "../../../contract/tables/table-arbitraries.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { driverOfRuntime } from "../driver/driver-of-runtime.ts";

async function main(path: string, seed: number): Promise<void> {
  const openSqlite = await driverOfRuntime();
  await tellValues(
    await SqliteStorage.open(openSqlite, ":memory:", {
      clock: new SystemClock(),
      collections: COLLECTIONS,
    }),
    seed,
  );
  await tellHistories(
    await SqliteStorage.open(openSqlite, ":memory:", {
      clock: new SystemClock(),
      collections: COLLECTIONS,
    }),
    seed,
  );
  await tellFailures(path);
}

/** Random values of every type. */
async function tellValues(storage: FullStorage, seed: number): Promise<void> {
  for (const type of COLUMN_TYPES) {
    const columns = { n: { type: "integer" as const }, value: { type } };
    const table = makeTable({ upsert_key: ["n"], columns }, `cells_${type}`);
    await storage.tables.prepare([table]);
    const values = fc.sample(arbitraryValue(type), { seed, numRuns: 300 });
    await write(
      storage,
      table,
      [...values, "nul\0within", "\0", "\ufeffmark\0"].map((value, n) => ({ n, value })),
    );
    await tellPages(storage, table);
  }
  await storage.close();
}

/** Random tables of every kind, filled in several pushes. */
async function tellHistories(storage: FullStorage, seed: number): Promise<void> {
  for (const [i, entry] of fc.sample(arbitraryEntry, { seed, numRuns: 60 }).entries()) {
    const table = makeTable(entry, `history_${i}`);
    await storage.tables.prepare([table]);
    for (const rows of fc.sample(arbitraryRows(table), { seed: seed + i, numRuns: 5 })) {
      await write(storage, table, rows);
      await tellPages(storage, table);
    }
  }
  await storage.close();
}

/** Refused records, refused writes, a refused change, a foreign key that nothing keeps, and a file that is held. */
async function tellFailures(path: string): Promise<void> {
  const openSqlite = await driverOfRuntime();
  const elsewhere = await openSqlite(path);
  const run = (sql: string) => elsewhere.prepare(sql).run([]);
  run("CREATE TABLE items (k TEXT, v INTEGER CHECK (v < 100) REFERENCES numbers (n))");
  run("CREATE TABLE numbers (n INTEGER PRIMARY KEY)");
  console.log(run("INSERT INTO items VALUES ('big', -9223372036854775807), ('small', 1)"));
  console.log(run("UPDATE items SET v = 2 WHERE v = 1"), run("DELETE FROM items WHERE v = 3"));
  const table = makeTable({
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "integer" } },
  });
  const storage = await SqliteStorage.open(openSqlite, path, {
    clock: new SystemClock(),
    busyDeadlineMs: 20,
    collections: COLLECTIONS,
  });
  await storage.tables.prepare([table]);
  await write(storage, table, [
    { k: "a", v: 1 },
    { k: "b", v: 100 },
    { k: "c\0", v: 2 },
  ]);
  await tellPages(storage, table);
  run("BEGIN IMMEDIATE");
  await write(storage, table, [{ k: "d", v: 1 }]);
  run("COMMIT");
  run("DROP TABLE items");
  await write(storage, table, [{ k: "e", v: 1 }]);
  await tellPages(storage, table);
  await storage.close();
  elsewhere.close();
}

async function write(storage: FullStorage, table: Table, rows: readonly Row[]): Promise<void> {
  await tell(
    writeTo(
      storage,
      table,
      rows.map((row, index) => ({ index, row })),
    ),
  );
}

async function tellPages(storage: FullStorage, table: Table): Promise<void> {
  for (const offsetRows of [0, 3, 6, 280, 9]) {
    await tell(readPage(storage.tables, table, { sinceTime: null, offsetRows, limitRows: 50 }));
  }
}

async function tell(work: Promise<unknown>): Promise<void> {
  const result = await work.catch((error: Error & { kind?: string }) => [
    error.kind,
    error.message,
  ]);
  console.log(JSON.stringify(result));
}

const [path = "", seed] = process.argv.slice(2);
await main(path, Number(seed));

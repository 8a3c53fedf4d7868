// A process of its own on a shared file, which writes batches.
// Arguments: the file, the number of the writer, the number of batches.

import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { driverOfRuntime } from "../driver/driver-of-runtime.ts";

/** Rows of each batch; all of one batch carry its number. */
export const ROWS_PER_BATCH = 20;

/** The table that all writers write. */
export const SHARED = makeTable({
  timestamp_column: "at",
  upsert_key: ["writer", "n"],
  columns: {
    id: { type: "integer", auto_increment: true },
    writer: { type: "integer" },
    n: { type: "integer" },
    at: { type: "datetime" },
    batch: { type: "integer" },
  },
});

/** Batch `batch` of a writer: its own new rows, and the rows that every batch of every writer overwrites. */
function batchOf(writer: number, batch: number): Row[] {
  const at = `2024-01-01T00:00:${String(batch % 60).padStart(2, "0")}Z`;
  const own = Array.from({ length: ROWS_PER_BATCH }, (_, i) => ({
    writer,
    n: batch * ROWS_PER_BATCH + i,
    at,
    batch,
  }));
  const shared = Array.from({ length: ROWS_PER_BATCH }, (_, n) => ({
    writer: -1,
    n,
    at,
    batch: writer * 1_000_000 + batch,
  }));
  return [...own, ...shared];
}

async function main(path: string, writer: number, batches: number): Promise<void> {
  const openSqlite = await driverOfRuntime();
  const storage = await SqliteStorage.open(openSqlite, path, {
    clock: new SystemClock(),
    collections: COLLECTIONS,
  });
  await storage.tables.prepare([SHARED]);
  for (let batch = 0; batch < batches; batch++) {
    const writes = batchOf(writer, batch).map((row, index) => ({ index, row }));
    await writeTo(storage, SHARED, writes);
  }
  await storage.close();
}

if (import.meta.main) {
  const [path = "", writer, batches] = process.argv.slice(2);
  await main(path, Number(writer), Number(batches));
}

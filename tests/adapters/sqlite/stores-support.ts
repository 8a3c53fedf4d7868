// Stores of SQLite whose time the tests decide.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBunSqlite } from "../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteStorage } from "../../../src/adapters/sqlite/storage.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import type { OpenedStore } from "../../contract/harness.ts";
import { type RunParts, withRunParts } from "../../support/run-parts.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";

/** A store in memory. */
export async function openMemoryStore(): Promise<OpenedStore<SqliteStorage & RunParts>> {
  const clock = new FakeClock();
  const storage = await SqliteStorage.open(openBunSqlite, ":memory:", {
    clock,
    collections: COLLECTIONS,
  });
  return { storage: withRunParts(storage), ...timeOf(clock), dispose: () => storage.close() };
}

/** A store in a file of its own; `prepared` is told what is about to be prepared in the file. */
export async function openFileStore(
  prepared?: (path: string, tables: readonly Table[]) => void,
): Promise<OpenedStore<SqliteStorage & RunParts>> {
  const folder = await mkdtemp(join(tmpdir(), "repsync-sqlite-"));
  const path = join(folder, "data", "test.db");
  const clock = new FakeClock();
  const opened: SqliteStorage[] = [];
  const openInstance = async () => {
    const storage = await SqliteStorage.open(openBunSqlite, path, {
      clock,
      collections: COLLECTIONS,
    });
    const prepare = storage.tables.prepare.bind(storage.tables);
    storage.tables.prepare = async (tables) => {
      prepared?.(path, tables);
      return await prepare(tables);
    };
    opened.push(storage);
    return withRunParts(storage);
  };
  return {
    storage: await openInstance(),
    openSecond: openInstance,
    ...timeOf(clock),
    async dispose() {
      for (const storage of opened) await storage.close();
      await rm(folder, { recursive: true });
    },
  };
}

function timeOf(clock: FakeClock) {
  return {
    nowMs: () => clock.nowMs(),
    advance: async (durationMs: number) => clock.advance(durationMs),
  };
}

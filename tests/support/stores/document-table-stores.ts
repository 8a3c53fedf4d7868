// Every kind of store whole, for the suite of rows in transactions.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBunSqlite } from "../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteStorage } from "../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { makeDatabase } from "../../adapters/mongodb/support.ts";
import { makeDatabase as makePostgres } from "../../adapters/postgres/support.ts";
import type { OpenedDocumentTables } from "../../contract/documents/tables-harness.ts";
import { MemoryDatabase, MemoryStorage } from "../memory/storage.ts";
import { FakeClock } from "../time/fake-clock.ts";

export async function openSqliteFileTables(): Promise<OpenedDocumentTables> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-rows-"));
  const path = join(folder, "a.db");
  const clock = new SystemClock();
  const storages: SqliteStorage[] = [];
  const open = async () => {
    const storage = await SqliteStorage.open(openBunSqlite, path, { clock });
    storages.push(storage);
    return storage;
  };
  return {
    storage: await open(),
    nowMs: () => clock.nowMs(),
    openSecond: open,
    makeUnique: async ({ name }, column) => {
      const tool = await openBunSqlite(path);
      const index = tool.prepare(`CREATE UNIQUE INDEX "${name}_tool" ON "${name}" ("${column}")`);
      index.run([]);
      index.finalize();
      tool.close();
    },
    dispose: async () => {
      for (const storage of storages) await storage.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function openSqliteMemoryTables(): Promise<OpenedDocumentTables> {
  const clock = new SystemClock();
  const storage = await SqliteStorage.open(openBunSqlite, ":memory:", { clock });
  return { storage, nowMs: () => clock.nowMs(), dispose: () => storage.close() };
}

export async function openMongoTables(): Promise<OpenedDocumentTables> {
  const database = await makeDatabase();
  return {
    storage: await database.open(),
    nowMs: () => Date.now(),
    openSecond: () => database.open(),
    makeUnique: async ({ name }, column) => {
      await database.db.collection(name).createIndex({ [column]: 1 }, { unique: true });
    },
    dispose: () => database.dispose(),
  };
}

export async function openPostgresTables(): Promise<OpenedDocumentTables> {
  const database = await makePostgres();
  return {
    storage: await database.open(),
    nowMs: () => Date.now(),
    openSecond: () => database.open(),
    makeUnique: async ({ name }, column) => {
      await database.sql.unsafe(`create unique index "${name}_tool" on "${name}" ("${column}")`);
    },
    dispose: () => database.dispose(),
  };
}

export async function openMemoryTables(): Promise<OpenedDocumentTables> {
  const clock = new FakeClock();
  return {
    storage: new MemoryStorage(new MemoryDatabase(clock)),
    hasTurns: false,
    nowMs: () => clock.nowMs(),
    dispose: async () => {},
  };
}

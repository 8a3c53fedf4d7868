// The stores of live ends.
import { openBunSqlite } from "../../../src/adapters/sqlite/driver/bun-driver.ts";
import type { SqliteConnection } from "../../../src/adapters/sqlite/driver/driver.ts";
import { SqliteStorage } from "../../../src/adapters/sqlite/storage.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { MemoryDatabase, MemoryStorage } from "../../support/memory/storage.ts";

/** What a history needs of a store. */
export type LiveStorage = Pick<FullStorage, "tables" | "tombstones" | "documents" | "close">;

export interface OpenedStore {
  readonly storage: LiveStorage;
  /** Deletes a row as another program would. Rejects when it is still there. */
  readonly remove: (table: Table, key: Row) => Promise<void>;
}

export function openMemory(clock: Clock): OpenedStore {
  const database = new MemoryDatabase(clock);
  const storage = new MemoryStorage(database);
  return { storage, remove: async (table, key) => database.tables.remove(table, key) };
}

/** Real SQLite in memory. `isDiskFull` is asked before each commit of a write. */
export async function openSqlite(clock: Clock, isDiskFull: () => boolean): Promise<OpenedStore> {
  let connection: SqliteConnection | undefined;
  const open = async (path: string) => {
    connection = withFullDisk(await openBunSqlite(path), isDiskFull);
    return connection;
  };
  const storage = await SqliteStorage.open(open, ":memory:", { clock, collections: COLLECTIONS });
  const run = (sql: string, values: readonly string[] = []) => {
    const statement = connection?.prepare(sql);
    statement?.run(values);
    statement?.finalize();
  };
  return {
    storage,
    async remove(table, key) {
      // Another program has the machine's time, which is that of the history here.
      const now = new Date(Math.floor(clock.nowMs())).toISOString().replace("Z", "000");
      await storage.documents.transact({ name: "test.remove" }, async (tx) => {
        run("INSERT INTO repsync_moment (now) VALUES (?)", [now]);
        run(`DELETE FROM "${table.name}" WHERE k = ?`, [String(key["k"])]);
        run("DELETE FROM repsync_moment");
        // Of another program the file tells that it has changed; here one connection does all.
        await tx.tables.change(table, "k", String(key["k"]), {});
      });
    },
  };
}

const SQLITE_FULL = 13;

/** What SQLite throws when a commit finds no room. */
class DiskFull extends Error {}

/** The connection, whose commits of writes fail now and then. */
function withFullDisk(connection: SqliteConnection, isDiskFull: () => boolean): SqliteConnection {
  let isWriting = false;
  return {
    cutsTextAtNul: connection.cutsTextAtNul,
    get isInTransaction() {
      return connection.isInTransaction;
    },
    prepare(sql) {
      const statement = connection.prepare(sql);
      if (sql !== "COMMIT" && !sql.startsWith("BEGIN")) return statement;
      return {
        all: (values) => statement.all(values),
        iterate: (values) => statement.iterate(values),
        run(values) {
          if (sql !== "COMMIT") isWriting = sql === "BEGIN IMMEDIATE";
          else if (isWriting && isDiskFull()) throw new DiskFull("database or disk is full");
          return statement.run(values);
        },
        finalize: () => statement.finalize(),
      };
    },
    close: () => connection.close(),
    resultCode: (error) => (error instanceof DiskFull ? SQLITE_FULL : connection.resultCode(error)),
  };
}

// The stores of live ends.
import { openPostgresStorage } from "../../../src/adapters/postgres/storage.ts";
import { openBunSqlite } from "../../../src/adapters/sqlite/driver/bun-driver.ts";
import type { SqliteConnection } from "../../../src/adapters/sqlite/driver/connection.ts";
import { SqliteStorage } from "../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { changeTime, rowTime } from "../../../src/domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { MemoryDatabase, MemoryStorage } from "../../support/memory/storage.ts";
import {
  dropPostgresDatabase,
  makePreparedDatabase,
} from "../../support/stores/shared-postgres.ts";
import type { SimTime } from "../../support/time/sim-time.ts";

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

/** A database of the tests' server, whose time is that of the history. */
export async function openPostgres(clock: Clock, time: SimTime): Promise<OpenedStore> {
  const url = await makePreparedDatabase();
  const system = new SystemClock();
  // A server tells whole milliseconds.
  const storeClock = { nowMs: () => Math.floor(clock.nowMs()) };
  const storage = await openPostgresStorage({ url, clock: system, storeClock });
  await storage.documents.prepare(COLLECTIONS);
  const remove = async (table: Table, key: Row) => {
    await storage.documents.transact({ name: "test.remove" }, async (tx) => {
      // Triggers have the server's time; this is what they do, at that of the history.
      const [row] = await storage.tables.byKeys(table, [key], "page");
      if (row === undefined) return;
      const deletedAt = changeTime(rowTime(table, row), storeClock.nowMs());
      await tx.tables.write(table, [], { deleted: [{ index: 0, key, deletedAt }] });
    });
  };
  return {
    storage: {
      tables: waited(storage.tables, time),
      tombstones: waited(storage.tombstones, time),
      documents: waited(storage.documents, time),
      async close() {
        await storage.close();
        await dropPostgresDatabase(url);
      },
    },
    remove: (table, key) => time.outside(remove(table, key)),
  };
}

/** What takes time of the machine, not of the history. */
function waited<Port extends object>(port: Port, time: SimTime): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const result: unknown = member.apply(target, args);
        return result instanceof Promise ? time.outside(result) : result;
      };
    },
  });
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

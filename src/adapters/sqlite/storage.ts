import type { Storage } from "../../ports/storage.ts";
import { SqliteDatabase, type SqliteOptions } from "./database.ts";
import type { OpenSqlite } from "./driver.ts";
import { SqliteMarkerStore } from "./marker-store.ts";
import { SqliteTableStore } from "./table-store.ts";

/** Tables of repsync's own, besides the registry's. */
const INTERNAL_TABLES = [
  "CREATE TABLE IF NOT EXISTS repsync_tables (name TEXT PRIMARY KEY, definition TEXT NOT NULL) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS repsync_markers (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
];

/** Everything repsync keeps, in one SQLite file that several processes may share. */
export class SqliteStorage implements Storage {
  readonly tables: SqliteTableStore;
  readonly markers: SqliteMarkerStore;
  readonly #database: SqliteDatabase;

  private constructor(database: SqliteDatabase) {
    this.#database = database;
    this.tables = new SqliteTableStore(database);
    this.markers = new SqliteMarkerStore(database);
  }

  /**
   * Opens a file, made with its folder when missing, or `:memory:`, with the driver of the runtime.
   * Throws `store_unavailable` when it cannot be opened or is no database.
   */
  static async open(
    openSqlite: OpenSqlite,
    path: string,
    options?: SqliteOptions,
  ): Promise<SqliteStorage> {
    const database = await SqliteDatabase.open(openSqlite, path, options);
    try {
      await database.write(() => {
        for (const sql of INTERNAL_TABLES) database.run(sql);
      });
      return new SqliteStorage(database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  async ping(timeoutMs: number): Promise<void> {
    await this.#database.ping(timeoutMs);
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

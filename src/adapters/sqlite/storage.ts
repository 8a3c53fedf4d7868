import { resolve } from "node:path";
import { AppError } from "../../domain/shared/errors.ts";
import type { StoreIdentity } from "../../domain/shared/store-format.ts";
import type { BackUpJob, CopyCounts } from "../../ports/copies/store-copies.ts";
import type { Dump } from "../../ports/copies/store-dump.ts";
import { START_CALLS } from "../../ports/documents.ts";
import type { FullStorage, StoreOptions } from "../../ports/storage.ts";
import { dumpFile } from "./copies/file-dump.ts";
import { backUp } from "./copies/sealed-file.ts";
import { SqliteDocuments } from "./documents/sqlite-documents.ts";
import type { OpenSqlite } from "./driver/connection.ts";
import { SqliteDatabase, type SqliteOptions } from "./driver/database.ts";
import { examineFile, prepareFacts } from "./driver/store-facts.ts";
import { examineTables, prepareOwnTables } from "./tables/prepare.ts";
import { SqliteTables } from "./tables/sqlite-tables.ts";
import { SqliteTombstones } from "./tables/tombstones.ts";

/** A write without a change, which SQLite refuses where the file is read-only. */
const CHANGE_NOTHING = "UPDATE repsync_store SET value = value WHERE FALSE";

export type SqliteStoreOptions = SqliteOptions & Omit<StoreOptions, "isFilling">;

/** One SQLite file, which several processes may share. */
export class SqliteStorage implements FullStorage {
  readonly identity: StoreIdentity;
  readonly documents: SqliteDocuments;
  readonly tables: SqliteTables;
  readonly tombstones: SqliteTombstones;
  readonly #database: SqliteDatabase;
  readonly #openSqlite: OpenSqlite;
  /** Null for `:memory:`. */
  readonly #path: string | null;

  private constructor(
    [openSqlite, path]: readonly [OpenSqlite, string | null],
    database: SqliteDatabase,
    identity: StoreIdentity,
  ) {
    this.identity = identity;
    this.documents = new SqliteDocuments(database);
    this.#database = database;
    this.#openSqlite = openSqlite;
    this.#path = path;
    this.tables = new SqliteTables(database);
    this.tombstones = new SqliteTombstones(database);
  }

  /**
   * Opens or makes a file with its folder, or `:memory:`. Throws `store_unavailable` when it cannot be opened or is no database.
   * Throws `invalid_request` when this program must not use it, and `schema_conflict` when it cannot have `tables`: then no byte has
   * changed.
   */
  static async open(
    openSqlite: OpenSqlite,
    path: string,
    { tables = [], collections = [], ...options }: SqliteStoreOptions,
  ): Promise<SqliteStorage> {
    const filePath = path === ":memory:" ? null : resolve(path);
    if (filePath !== null) {
      const examine = (database: SqliteDatabase) => examineTables(database, tables);
      await examineFile(openSqlite, filePath, { ...options, examine });
    }
    const database = await SqliteDatabase.open(openSqlite, path, options);
    try {
      const identity = await database.write(() => {
        const found = prepareFacts(database);
        prepareOwnTables(database);
        return found;
      });
      const storage = new SqliteStorage([openSqlite, filePath], database, identity);
      await storage.documents.prepare(collections);
      return storage;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Holds the store by the locks of the open file. Refuses a read-only file. */
  async hold(): Promise<void> {
    await this.#database.write(() => this.#database.run(CHANGE_NOTHING), START_CALLS);
  }

  async backUp(job: BackUpJob): Promise<CopyCounts> {
    return await backUp({ openSqlite: this.#openSqlite, path: this.#filePath }, job);
  }

  async dump(): Promise<Dump> {
    return await dumpFile(this.#openSqlite, this.#filePath, this.documents.collections);
  }

  /** Throws `invalid_request` for `:memory:`. */
  get #filePath(): string {
    if (this.#path !== null) return this.#path;
    const text = "The store is kept in the memory of one process: no other one can read it";
    throw new AppError("invalid_request", text);
  }

  watchDamage(onDamage: (failure: AppError) => void): void {
    this.#database.onDamage = onDamage;
  }

  async isDamaged(): Promise<boolean> {
    const [verdict] = await this.#database.read(() => this.#database.all("PRAGMA quick_check(1)"));
    return Object.values(verdict ?? {})[0] !== "ok";
  }

  async ping(timeoutMs: number): Promise<void> {
    await this.#database.ping(timeoutMs);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}

import { resolve } from "node:path";
import type { AppError } from "../../domain/shared/errors.ts";
import type { StoreIdentity } from "../../domain/shared/store-format.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { BackUpJob, CopyCounts } from "../../ports/copies/store-copies.ts";
import type { Dump } from "../../ports/copies/store-dump.ts";
import { START_CALLS } from "../../ports/documents.ts";
import type { FullStorage, StoreOptions } from "../../ports/storage.ts";
import type { TableStore } from "../../ports/tables/table-store.ts";
import { backUp, pathOf, type StoreFile } from "./copies/back-up.ts";
import { dumpFile } from "./copies/file-dump.ts";
import { SqliteDocuments } from "./documents/sqlite-documents.ts";
import { SqliteDatabase, type SqliteOptions } from "./driver/database.ts";
import type { OpenSqlite } from "./driver/driver.ts";
import { schemaVersion } from "./driver/sql.ts";
import { examineFile, prepareFacts } from "./driver/store-facts.ts";
import {
  DEFINITION_TABLES,
  examineTables,
  prepareTables,
  readForeignTables,
} from "./tables/prepare.ts";
import { TableReader } from "./tables/table-reader.ts";
import { addMomentName, TOMBSTONE_TABLES } from "./tables/tombstone-sql.ts";
import { SqliteTombstones } from "./tables/tombstones.ts";

const INTERNAL_TABLES = [...DEFINITION_TABLES, ...TOMBSTONE_TABLES];

/** A write without a change, which SQLite refuses where the file is read-only. */
const CHANGE_NOTHING = "UPDATE repsync_store SET value = value WHERE FALSE";

export type SqliteStoreOptions = SqliteOptions & Omit<StoreOptions, "isFilling">;

/** One SQLite file, which several processes may share. */
export class SqliteStorage implements FullStorage {
  readonly identity: StoreIdentity;
  readonly documents: SqliteDocuments;
  readonly tables: SqliteTableStore;
  readonly tombstones: SqliteTombstones;
  readonly #database: SqliteDatabase;
  readonly #file: StoreFile;

  private constructor(database: SqliteDatabase, identity: StoreIdentity, file: StoreFile) {
    this.identity = identity;
    this.documents = new SqliteDocuments(database);
    this.#database = database;
    this.#file = file;
    this.tables = new SqliteTableStore(database);
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
    if (path !== ":memory:") {
      await examineFile(openSqlite, resolve(path), {
        ...options,
        examine: (database) => examineTables(database, tables),
      });
    }
    const database = await SqliteDatabase.open(openSqlite, path, options);
    try {
      const identity = await database.write(() => {
        const found = prepareFacts(database);
        for (const sql of INTERNAL_TABLES) database.run(sql);
        addMomentName(database);
        readForeignTables(database);
        return found;
      });
      const file = { openSqlite, path: path === ":memory:" ? null : resolve(path) };
      const storage = new SqliteStorage(database, identity, file);
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
    return await backUp(this.#file, job);
  }

  async dump(): Promise<Dump> {
    const { openSqlite } = this.#file;
    return await dumpFile(openSqlite, pathOf(this.#file), this.documents.collections);
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

class SqliteTableStore extends TableReader implements TableStore {
  readonly #database: SqliteDatabase;
  /** The tables prepared last: an equal table needs no other look while no schema has changed. */
  #prepared = { version: -1, tables: new Set<string>() };

  constructor(database: SqliteDatabase) {
    super(database);
    this.#database = database;
  }

  async prepare(tables: readonly Table[]): Promise<void> {
    const known = this.#prepared;
    const version = await this.#database.write((body) => {
      const isSame = schemaVersion(this.#database) === known.version;
      const isKnown = (table: Table) => isSame && known.tables.has(JSON.stringify(table));
      const changed = tables.filter((table) => !isKnown(table));
      prepareTables(this.#database, changed);
      for (const { name } of changed) body.noteChanged(name);
      return schemaVersion(this.#database);
    }, START_CALLS);
    this.#prepared = { version, tables: new Set(tables.map((table) => JSON.stringify(table))) };
  }

  stampsOthers(): boolean {
    return true;
  }

  /** Triggers make tombstones in the commit of the delete. */
  async settled(): Promise<void> {}
}

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
import { examineFile, prepareFacts } from "./driver/store-facts.ts";
import {
  DEFINITION_TABLES,
  examineTables,
  prepareTables,
  readForeignTables,
} from "./tables/prepare.ts";
import { TableReader } from "./tables/table-reader.ts";
import { TOMBSTONE_TABLES } from "./tables/tombstone-sql.ts";
import { SqliteTombstones } from "./tables/tombstones.ts";

/** Tables of repsync's own, beside those of the registry. */
const INTERNAL_TABLES = [...DEFINITION_TABLES, ...TOMBSTONE_TABLES];

/** Changes nothing, but is a write: SQLite refuses it where the file may only be read. */
const CHANGE_NOTHING = "UPDATE repsync_store SET value = value WHERE FALSE";

export type SqliteStoreOptions = SqliteOptions & Omit<StoreOptions, "isFilling">;

/** Everything repsync keeps, in one SQLite file that several processes may share. */
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
   * Opens a file, made with its folder when missing, or `:memory:`, with the driver of the runtime.
   * Throws `store_unavailable` when it cannot be opened, or is no database,
   * `invalid_request` when this program must not use it, and `schema_conflict` when it cannot have `tables`: nothing was
   * written then, its journal mode included.
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

  /** The locks of the open file hold it. A file that may only be read is refused. */
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

function schemaVersion(database: SqliteDatabase): number {
  return Number(database.all("PRAGMA schema_version")[0]?.["schema_version"]);
}

/** Rows in real SQLite tables with the registry's names and columns. */
class SqliteTableStore extends TableReader implements TableStore {
  readonly #database: SqliteDatabase;
  /** The tables that were prepared last: while no schema has changed since, one that is the same needs no other look. */
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

import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import type { FullStorage } from "../../ports/storage.ts";
import type { PreparedTables } from "../../ports/tables/table-store.ts";
import { ACCOUNT_TABLES, SqliteAccountStore } from "./accounts/account-store.ts";
import { SECRET_TABLES, SqliteSecretStore } from "./accounts/secret-store.ts";
import { SESSION_TABLES, SqliteSessionStore } from "./accounts/session-store.ts";
import { ATTEMPT_TABLES, SqliteSignInGuard } from "./accounts/sign-in-guard.ts";
import { SqliteDatabase, type SqliteOptions } from "./driver/database.ts";
import type { OpenSqlite } from "./driver/driver.ts";
import { openSqliteReputation } from "./reputation-stores.ts";
import { LEASE_TABLES, SqliteLeaseStore } from "./runs/lease-store.ts";
import { MARKER_TABLES, SqliteMarkerStore } from "./runs/marker-store.ts";
import { REJECTED_TABLES, SqliteRejectedRecords } from "./runs/rejected-records.ts";
import { RUN_TABLES, SqliteRunStore } from "./runs/run-store.ts";
import { SqliteRowSource } from "./tables/row-source.ts";
import { DEFINITION_TABLES } from "./tables/schema.ts";
import { SqliteTableStore } from "./tables/table-store.ts";

/** Tables of repsync's own, beside those of the registry. */
const INTERNAL_TABLES = [
  ...DEFINITION_TABLES,
  ...MARKER_TABLES,
  ...LEASE_TABLES,
  ...RUN_TABLES,
  ...REJECTED_TABLES,
  ...ACCOUNT_TABLES,
  ...SESSION_TABLES,
  ...ATTEMPT_TABLES,
  ...SECRET_TABLES,
];

/** Everything repsync keeps, in one SQLite file that several processes may share. */
export class SqliteStorage implements FullStorage {
  readonly tables: SqliteTableStore;
  readonly markers: SqliteMarkerStore;
  readonly rows: SqliteRowSource;
  readonly leases: SqliteLeaseStore;
  readonly runs: SqliteRunStore;
  readonly rejected: SqliteRejectedRecords;
  readonly accounts: SqliteAccountStore;
  readonly sessions: SqliteSessionStore;
  readonly signIns: SqliteSignInGuard;
  readonly secrets: SqliteSecretStore;
  readonly #database: SqliteDatabase;

  private constructor(database: SqliteDatabase) {
    this.#database = database;
    this.tables = new SqliteTableStore(database);
    this.markers = new SqliteMarkerStore(database);
    this.rows = new SqliteRowSource(database);
    this.leases = new SqliteLeaseStore(database);
    this.runs = new SqliteRunStore(database);
    this.rejected = new SqliteRejectedRecords(database);
    this.accounts = new SqliteAccountStore(database);
    this.sessions = new SqliteSessionStore(database);
    this.signIns = new SqliteSignInGuard(database);
    this.secrets = new SqliteSecretStore(database);
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

  async openReputation(
    tables: PreparedTables,
    options: ReputationOptions,
  ): Promise<ReputationStores> {
    return await openSqliteReputation(this.#database, tables, options);
  }

  async ping(timeoutMs: number): Promise<void> {
    await this.#database.ping(timeoutMs);
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

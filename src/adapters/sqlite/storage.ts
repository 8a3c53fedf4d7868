import { resolve } from "node:path";
import type { AdminAct } from "../../domain/reputation/audit/admin-entry.ts";
import type { AppError } from "../../domain/shared/errors.ts";
import type { StoreIdentity } from "../../domain/shared/store-format.ts";
import { erasedNameText } from "../../domain/sync/people/erasure.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { BackUpJob, CopyCounts } from "../../ports/copies/store-copies.ts";
import type { AnyCollection } from "../../ports/documents.ts";
import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import type { FullStorage } from "../../ports/storage.ts";
import type { PreparedTables } from "../../ports/tables/table-store.ts";
import { ACCOUNT_TABLES, SqliteAccountStore } from "./accounts/account-store.ts";
import { SqliteAdministration } from "./accounts/administration.ts";
import { API_KEY_TABLES, SqliteApiKeyStore } from "./accounts/api-key-store.ts";
import { CALL_TABLES, keepMonth } from "./accounts/call-counter.ts";
import { HISTORY_TABLES } from "./accounts/call-history.ts";
import { CONSENT_TABLES, SqliteConsentStore } from "./accounts/consent-store.ts";
import { SqliteMembership } from "./accounts/membership.ts";
import { PersonRows } from "./accounts/person-rows.ts";
import { SqliteProfileStore } from "./accounts/profile-store.ts";
import { SUBJECT_TABLES, Subjects } from "./accounts/subjects.ts";
import { SqliteUsageStore } from "./accounts/usage-store.ts";
import { noteAdminAct } from "./audit/admin-records.ts";
import { AuditChainWriter } from "./audit/audit-chain-writer.ts";
import { SqliteAuditLog } from "./audit/audit-log.ts";
import { SqliteAuditSearch } from "./audit/audit-search.ts";
import { AUDIT_TABLES } from "./audit/audit-tables.ts";
import { INDEX_SEGMENT_TABLES } from "./audit/index-segments.ts";
import { backUp, type StoreFile } from "./copies/back-up.ts";
import { SqliteDocuments } from "./documents/sqlite-documents.ts";
import { SqliteDatabase, type SqliteOptions } from "./driver/database.ts";
import type { OpenSqlite } from "./driver/driver.ts";
import { examineFile } from "./driver/format-check.ts";
import { prepareVersions } from "./driver/person-versions.ts";
import { prepareFacts } from "./driver/store-facts.ts";
import { SqliteLookupProcessor } from "./lookups/lookup-processor.ts";
import { PersonReader } from "./lookups/person-reader.ts";
import { QuotaAlerts } from "./lookups/quota-alerts.ts";
import { ERASED_TABLES, ErasedNames } from "./people/erased-names.ts";
import { NAME_TABLES, readNameFacts, SqliteKnownNames } from "./people/name-facts.ts";
import { SqliteRowSource } from "./tables/row-source.ts";
import { DEFINITION_TABLES, examineTables, readForeignTables } from "./tables/schema.ts";
import { SqliteTableStore } from "./tables/table-store.ts";
import { TOMBSTONE_TABLES } from "./tables/tombstone-sql.ts";
import { SqliteTombstones } from "./tables/tombstones.ts";

/** Tables of repsync's own, beside those of the registry. */
const INTERNAL_TABLES = [
  ...DEFINITION_TABLES,
  ...TOMBSTONE_TABLES,
  ...ACCOUNT_TABLES,
  ...NAME_TABLES,
  ...ERASED_TABLES,
];

export interface SqliteStoreOptions extends SqliteOptions {
  /** The tables that `tables.prepare()` will be called with, which are looked at before anything is written. D-11.4. */
  readonly tables?: readonly Table[];
  /** The collections of `documents`. */
  readonly collections?: readonly AnyCollection[];
}

/** Everything repsync keeps, in one SQLite file that several processes may share. */
export class SqliteStorage implements FullStorage {
  readonly identity: StoreIdentity;
  readonly documents: SqliteDocuments;
  readonly tables: SqliteTableStore;
  readonly rows: SqliteRowSource;
  readonly tombstones: SqliteTombstones;
  readonly accounts: SqliteAccountStore;
  readonly names: SqliteKnownNames;
  readonly #database: SqliteDatabase;
  readonly #file: StoreFile;
  readonly #erasedNames: ErasedNames;

  private constructor(database: SqliteDatabase, identity: StoreIdentity, file: StoreFile) {
    this.identity = identity;
    const erasedNames = new ErasedNames(database);
    this.documents = new SqliteDocuments(database, (name) =>
      readNameFacts(database, erasedNames, name),
    );
    this.#database = database;
    this.#file = file;
    this.#erasedNames = erasedNames;
    this.tables = new SqliteTableStore(database);
    this.rows = new SqliteRowSource(database);
    this.tombstones = new SqliteTombstones(database);
    this.accounts = new SqliteAccountStore(database, erasedNames);
    this.names = new SqliteKnownNames(database, erasedNames);
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
    { tables = [], collections = [], ...options }: SqliteStoreOptions = {},
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

  async openReputation(
    tables: PreparedTables,
    options: ReputationOptions,
  ): Promise<ReputationStores> {
    return await openReputation(this.#database, this.#erasedNames, tables, options);
  }

  /** The locks of open files tell it. */
  async hold(): Promise<void> {}

  async backUp(job: BackUpJob): Promise<CopyCounts> {
    return await backUp(this.#file, job);
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

const REPUTATION_TABLES = [
  ...SUBJECT_TABLES,
  ...API_KEY_TABLES,
  ...CONSENT_TABLES,
  ...CALL_TABLES,
  ...HISTORY_TABLES,
  ...AUDIT_TABLES,
  ...INDEX_SEGMENT_TABLES,
];

/** Makes the tables of the reputation half, and its stores on them. Throws `store_unavailable` or `commit_failed`. */
async function openReputation(
  database: SqliteDatabase,
  erasedNames: ErasedNames,
  tables: PreparedTables,
  options: ReputationOptions,
): Promise<ReputationStores> {
  const profiles = new PersonRows(database, tables.get("profiles"));
  const platformAccounts = new PersonRows(database, tables.get("platform_accounts"));
  await database.write(() => {
    for (const sql of REPUTATION_TABLES) database.run(sql);
    prepareVersions(database, ["repsync_consents", "repsync_subjects"]);
  }, []);
  const { mac, auditKey, nameKey, makeAlert = null, makeCache } = options;
  const subjects = new Subjects(database, mac, auditKey);
  erasedNames.open({
    hmacOf: (username) => mac.hmacHex(nameKey, erasedNameText(username)),
    keepCalls: (username, month) => keepMonth(database, subjects.makeAccountId(username), month),
  });
  const chain = new AuditChainWriter(database, mac, auditKey);
  const noteAct = (act: AdminAct) => noteAdminAct(database, { mac, auditKey, subjects }, act);
  const people = new PersonReader(database, { profiles, platformAccounts, subjects, makeCache });
  return {
    apiKeys: new SqliteApiKeyStore(database, makeAlert),
    consents: new SqliteConsentStore(database),
    profiles: new SqliteProfileStore(database, profiles, platformAccounts),
    membership: new SqliteMembership(database, {
      profiles,
      platformAccounts,
      erasedNames,
      noteAdminAct: noteAct,
    }),
    administration: new SqliteAdministration(database, erasedNames, noteAct),
    usage: new SqliteUsageStore(database, subjects),
    audit: new SqliteAuditLog(database, subjects),
    auditSearch: new SqliteAuditSearch(database, subjects),
    lookupProcessor: new SqliteLookupProcessor(database, {
      ...{ people, subjects, chain },
      quotaAlerts: new QuotaAlerts(database, makeAlert),
    }),
  };
}

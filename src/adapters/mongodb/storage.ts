import { AppError } from "../../domain/shared/errors.ts";
import { checkFormat, type StoreIdentity } from "../../domain/shared/store-format.ts";
import { erasedNameText } from "../../domain/sync/people/erasure.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { BackUpJob, CopyCounts } from "../../ports/copies/store-copies.ts";
import type { AnyCollection } from "../../ports/documents.ts";
import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import type { Logger } from "../../ports/runtime/logger.ts";
import type { FullStorage } from "../../ports/storage.ts";
import type { PreparedTables } from "../../ports/tables/table-store.ts";
import { type AccountStoreDeps, MongoAccountStore } from "./accounts/account-store.ts";
import { keepMonth } from "./accounts/account-usage.ts";
import { MongoAdministration, type NoteAdminAct } from "./accounts/administration.ts";
import { API_KEYS, MongoApiKeyStore } from "./accounts/api-key-store.ts";
import { CONSENTS, MongoConsentStore } from "./accounts/consent-store.ts";
import { MongoMembership } from "./accounts/membership.ts";
import { PersonRows } from "./accounts/person-rows.ts";
import { MongoProfileStore } from "./accounts/profile-store.ts";
import { QUOTA_MARKS } from "./accounts/quota-marks.ts";
import { SUBJECTS, Subjects } from "./accounts/subjects.ts";
import { MongoUsageStore } from "./accounts/usage-store.ts";
import { noteAdminAct } from "./audit/admin-records.ts";
import {
  AUDIT_CHAIN_COUNT,
  AUDIT_CHECKPOINTS,
  AuditChainWriter,
} from "./audit/audit-chain-writer.ts";
import { MongoAuditLog } from "./audit/audit-log.ts";
import { MongoAuditSearch } from "./audit/audit-search.ts";
import { INDEX_SEGMENTS, SegmentWriter } from "./audit/index-segments.ts";
import { backUp } from "./copies/back-up.ts";
import { DELETE_COLLECTIONS, DeleteRecorder } from "./deletes/delete-recorder.ts";
import { checkVersion } from "./deletes/pre-images.ts";
import { MongoTombstones } from "./deletes/tombstones.ts";
import { MongoDocuments } from "./documents/mongo-documents.ts";
import { makeCollections } from "./driver/collections.ts";
import { connect } from "./driver/connection.ts";
import {
  Deadline,
  REQUEST_CALLS,
  retry,
  START_CALLS,
  type Stopwatch,
  SYNC_CALLS,
} from "./driver/deadline.ts";
import { toAppError } from "./driver/errors.ts";
import { HOLDERS, Holder } from "./driver/holders.ts";
import { COUNTERS } from "./driver/id-counters.ts";
import { LOOKUP_LOG } from "./driver/lookup-log.ts";
import type { StoreDeps } from "./driver/operations.ts";
import { PERSON_VERSIONS } from "./driver/person-versions.ts";
import type { StoreClock } from "./driver/server-clock.ts";
import { prepareFacts, readFacts } from "./driver/store-facts.ts";
import { TABLE_VERSIONS, TableVersions } from "./driver/table-versions.ts";
import { LookupCache } from "./lookups/lookup-cache.ts";
import { MongoLookupProcessor } from "./lookups/lookup-processor.ts";
import { LookupReader } from "./lookups/lookup-reader.ts";
import { QuotaAlerts } from "./lookups/quota-alerts.ts";
import { ERASED_NAMES, ErasedNames } from "./people/erased-names.ts";
import { ACCOUNTS, MongoKnownNames } from "./people/name-facts.ts";
import { PushPlace } from "./tables/push-place.ts";
import { MongoRowSource } from "./tables/row-source.ts";
import { inspectTables, TABLE_DEFINITIONS } from "./tables/table-inspection.ts";
import { type DeleteRecord, MongoTableStore } from "./tables/table-store.ts";

interface MongoStorageOptions {
  /** `mongodb://` or `mongodb+srv://` with a database name. */
  readonly url: string;
  /** Measures deadlines, and how long anything is remembered. */
  readonly clock: Stopwatch;
  /**
   * Tells the time of sessions and lookups; by default the server does. All instances on a database must agree on it.
   */
  readonly storeClock?: StoreClock;
  /** Is told what happens beside calls: when deletes may have been missed. */
  readonly logger?: Logger;
  /** True for the program that fills the store. */
  readonly isFilling?: boolean;
  /** The tables that `tables.prepare()` will be called with, which are looked at before anything is written. D-11.4. */
  readonly tables?: readonly Table[];
  /** The collections of `documents`. */
  readonly collections?: readonly AnyCollection[];
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const INTERNAL_COLLECTIONS = [
  ...DELETE_COLLECTIONS,
  HOLDERS,
  TABLE_DEFINITIONS,
  TABLE_VERSIONS,
  PERSON_VERSIONS,
  COUNTERS,
  ACCOUNTS,
  ERASED_NAMES,
];

/**
 * Opens a MongoDB database as a store. Throws `invalid_request` for a URL that cannot be used and for a store that this
 * program must not use, `schema_conflict`, before anything is written, when it cannot have `tables`, and
 * `store_unavailable`. No message holds the URL.
 */
export async function openMongoStorage(options: MongoStorageOptions): Promise<FullStorage> {
  const { url, clock, storeClock = null, logger = SILENT, tables = [], collections = [] } = options;
  let identity: StoreIdentity = { deploymentId: "", isNew: false };
  const { client, db, primaryWatch } = await connect(url, { clock, logger }, async (database) => {
    const examine = async () => {
      await checkVersion(
        database,
        tables.filter(({ deletes }) => deletes),
      );
      await inspectTables(database, tables);
    };
    const found = await prepareFacts(database, { ...options, examine });
    // A try before this one may have made the store.
    identity = {
      deploymentId: found.deploymentId,
      isNew: identity.isNew || found.isNew,
    };
    await makeCollections(database, INTERNAL_COLLECTIONS);
  });
  const deps = { client, db, clock, primaryWatch, storeClock, callLimit: SYNC_CALLS };
  const storage = new MongoStorage({ ...deps, logger }, identity);
  try {
    await storage.documents.prepare(collections);
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

class MongoStorage implements FullStorage {
  readonly identity: StoreIdentity;
  readonly documents: MongoDocuments;
  readonly tables: MongoTableStore;
  readonly rows: MongoRowSource;
  readonly tombstones: MongoTombstones;
  readonly accounts: MongoAccountStore;
  readonly names: MongoKnownNames;
  /** Of the accounts half: requests under `/v1` wait for its calls. */
  readonly #accountDeps: AccountStoreDeps;
  readonly #recorder: DeleteRecorder;
  readonly #holder: Holder;
  #closing: Promise<void> | undefined;

  constructor(
    { logger, ...deps }: StoreDeps & { readonly logger: Logger },
    identity: StoreIdentity,
  ) {
    this.identity = identity;
    const versions = new TableVersions(deps.db);
    const erasedNames = new ErasedNames(deps.db, deps.clock);
    const pushes = new PushPlace({ ...deps, versions }, erasedNames);
    this.documents = new MongoDocuments({ ...deps, callLimit: REQUEST_CALLS }, pushes);
    this.#accountDeps = { ...deps, versions, erasedNames, callLimit: REQUEST_CALLS };
    this.#holder = new Holder(deps.db);
    this.#recorder = new DeleteRecorder(deps, logger);
    this.tables = new MongoTableStore(pushes, this.#recorder);
    this.rows = new MongoRowSource(deps);
    this.tombstones = new MongoTombstones(deps, this.#recorder);
    this.accounts = new MongoAccountStore(this.#accountDeps);
    this.names = new MongoKnownNames(deps, erasedNames);
  }

  openReputation(tables: PreparedTables, options: ReputationOptions): Promise<ReputationStores> {
    const deps = { ...this.#accountDeps, deletes: this.#recorder };
    return openReputation(deps, tables, options);
  }

  async hold(): Promise<void> {
    const { db } = this.#accountDeps;
    try {
      await this.#holder.begin();
      checkFormat(await readFacts(db), false);
    } catch (error) {
      throw toAppError(error);
    }
  }

  async backUp(job: BackUpJob): Promise<CopyCounts> {
    // A delete of the last moment before the snapshot would have no tombstone in it.
    await this.#recorder.settle();
    return await backUp(this.#accountDeps, job);
  }

  /** The server checks its files, and ends where they are damaged. */
  watchDamage(): void {}

  async isDamaged(): Promise<boolean> {
    return false;
  }

  async ping(timeoutMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const message = `MongoDB did not answer within ${timeoutMs} ms`;
      timer = setTimeout(() => reject(new AppError("store_unavailable", message)), timeoutMs);
    });
    try {
      await Promise.race([this.#accountDeps.db.command({ ping: 1 }), timeout]);
    } catch (error) {
      throw toAppError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#recorder.stop(), this.#holder.end()]).then(() =>
      this.#accountDeps.client.close(),
    );
    return this.#closing;
  }
}

const REPUTATION_COLLECTIONS = [
  SUBJECTS,
  API_KEYS,
  CONSENTS,
  LOOKUP_LOG,
  INDEX_SEGMENTS,
  AUDIT_CHECKPOINTS,
  AUDIT_CHAIN_COUNT,
  QUOTA_MARKS,
];

/** Makes the collections of the reputation half, and its stores on them. Throws `store_unavailable`. */
async function openReputation(
  deps: AccountStoreDeps & { readonly deletes: DeleteRecord },
  tables: PreparedTables,
  options: ReputationOptions,
): Promise<ReputationStores> {
  const profiles = new PersonRows(deps, tables.get("profiles"));
  const platformAccounts = new PersonRows(deps, tables.get("platform_accounts"));
  await prepare(deps, [profiles, platformAccounts]);
  const subjects = new Subjects(deps.db, options.mac, options.auditKey);
  deps.erasedNames.open({
    hmacOf: (username) => options.mac.hmacHex(options.nameKey, erasedNameText(username)),
    keepCalls: async (username, month, tx) =>
      await keepMonth(deps.db, await subjects.makeId(username, tx), month, tx),
  });
  const people = { ...deps, profiles, platformAccounts, subjects };
  const chainWriter = new AuditChainWriter(deps.db, options.mac, options.auditKey);
  const noteAct: NoteAdminAct = (act, tx) => noteAdminAct({ ...people, chainWriter }, act, tx);
  const { makeAlert = null } = options;
  const segments = new SegmentWriter(deps.db);
  const cache = new LookupCache(options.makeCache);
  const reader = new LookupReader({ ...people, cache });
  return {
    apiKeys: new MongoApiKeyStore(deps, makeAlert),
    consents: new MongoConsentStore(deps),
    profiles: new MongoProfileStore(people),
    membership: new MongoMembership({ ...people, noteAdminAct: noteAct }),
    administration: new MongoAdministration({ ...people, noteAdminAct: noteAct }),
    usage: new MongoUsageStore(deps),
    audit: new MongoAuditLog(people),
    auditSearch: new MongoAuditSearch(people),
    lookupProcessor: new MongoLookupProcessor({
      ...people,
      mac: options.mac,
      reader,
      cache,
      chainWriter,
      segments,
      quotaAlerts: new QuotaAlerts(deps.db, makeAlert),
    }),
  };
}

async function prepare({ db, clock }: StoreDeps, rows: readonly PersonRows[]): Promise<void> {
  const indexes = rows.map(({ index }) => index).filter((index) => index !== null);
  try {
    // After an election it starts again, so every step may be done twice.
    await retry(Deadline.start(clock, START_CALLS), () =>
      makeCollections(db, [...REPUTATION_COLLECTIONS, ...indexes]),
    );
  } catch (error) {
    throw toAppError(error);
  }
}

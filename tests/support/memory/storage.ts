// A whole store in memory: the example that docs/writing-an-adapter.md explains.

import { erasedNameText } from "../../../src/domain/sync/people/erasure.ts";
import type { Mac } from "../../../src/ports/crypto/crypto.ts";
import type { ReputationOptions, ReputationStores } from "../../../src/ports/reputation-stores.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import type { KnownNames } from "../../../src/ports/tables/known-names.ts";
import type { PreparedTables } from "../../../src/ports/tables/table-store.ts";
import { MemoryAccountStore, MemoryApiKeyStore, MemoryConsentStore } from "./accounts.ts";
import { MemoryAlerts } from "./alerts.ts";
import { MemoryAuditLog, MemoryChainWriter } from "./audit.ts";
import { MemoryAuditSearch } from "./audit-search.ts";
import { type MemoryDocuments, ownDocuments } from "./documents.ts";
import { MemoryErasedNames } from "./erased-names.ts";
import { MemoryLookupProcessor } from "./lookups.ts";
import {
  MemoryAdministration,
  MemoryMembership,
  MemoryProfileStore,
  PersonRows,
  Subjects,
} from "./people.ts";
import type { MemoryRowSource } from "./row-source.ts";
import { MemoryTables } from "./tables.ts";
import type { MemoryTombstones } from "./tombstones.ts";
import { MemoryUsageStore } from "./usage.ts";

/** What instances share, as the processes of a service share a database. */
export class MemoryDatabase {
  readonly clock: Clock;
  readonly tables: MemoryTables;
  readonly rows: MemoryRowSource;
  readonly documents: MemoryDocuments;
  readonly alerts: MemoryAlerts;
  readonly accounts: MemoryAccountStore;
  readonly erasedNames = new MemoryErasedNames();
  readonly apiKeys: MemoryApiKeyStore;
  readonly consents: MemoryConsentStore;
  readonly usage: MemoryUsageStore;
  #audited: { readonly subjects: Subjects; readonly audit: MemoryAuditLog } | null = null;

  /** `clock` is the store's own: leases, times of rows, sessions and lookups go by it in all instances. */
  constructor(clock: Clock) {
    this.clock = clock;
    this.tables = new MemoryTables(clock);
    this.documents = ownDocuments(clock, this.tables);
    this.alerts = new MemoryAlerts(this.documents);
    this.rows = this.tables.rows;
    this.accounts = new MemoryAccountStore(this.documents, this.erasedNames);
    this.tables.factsOf = (username) => this.accounts.factsOf(username);
    this.apiKeys = new MemoryApiKeyStore(this.accounts, this.alerts);
    this.consents = new MemoryConsentStore(this.accounts);
    this.usage = new MemoryUsageStore(clock);
  }

  /** The audit log and those who are named in it, made by the first instance that asks. */
  audited(mac: Mac, auditKey: Uint8Array) {
    if (this.#audited === null) {
      const subjects = new Subjects(mac, auditKey);
      this.#audited = { subjects, audit: new MemoryAuditLog(subjects) };
    }
    return this.#audited;
  }
}

/** One instance on a database in memory. */
export class MemoryStorage implements FullStorage {
  readonly identity = { deploymentId: "memory", isNew: true };
  async hold(): Promise<void> {}

  watchDamage(): void {}

  async isDamaged(): Promise<boolean> {
    return false;
  }

  backUp(): Promise<never> {
    throw new Error("A store in memory has no copies");
  }

  readonly #database: MemoryDatabase;
  readonly documents: MemoryDocuments;
  readonly tables: MemoryTables;
  readonly rows: MemoryRowSource;
  readonly tombstones: MemoryTombstones;
  readonly accounts: MemoryAccountStore;
  readonly names: KnownNames;

  constructor(database: MemoryDatabase) {
    this.#database = database;
    this.documents = database.documents;
    this.tables = database.tables;
    this.rows = database.rows;
    this.tombstones = database.tables.tombstones;
    this.accounts = database.accounts;
    this.names = database.tables.names;
  }

  async openReputation(
    prepared: PreparedTables,
    { mac, auditKey, nameKey, makeAlert = null }: ReputationOptions,
  ): Promise<ReputationStores> {
    const { tables, apiKeys, consents, usage, erasedNames, alerts } = this.#database;
    alerts.makeAlert = makeAlert;
    erasedNames.open({
      hmacOf: (username) => mac.hmacHex(nameKey, erasedNameText(username)),
      keepCalls: (username, month) => usage.begin(username, month),
    });
    const { subjects, audit } = this.#database.audited(mac, auditKey);
    const people = {
      profiles: new PersonRows(tables, prepared.get("profiles")),
      platformAccounts: new PersonRows(tables, prepared.get("platform_accounts")),
    };
    const deps = {
      profiles: people.profiles,
      platformAccounts: people.platformAccounts,
      accounts: this.accounts,
      documents: this.documents,
      erasedNames,
      alerts,
      apiKeys,
      consents,
      usage,
      subjects,
      chain: new MemoryChainWriter(audit, mac, auditKey),
      beginChain: () => new MemoryChainWriter(audit, mac, auditKey),
      clock: this.#database.clock,
    };
    return {
      apiKeys,
      consents,
      profiles: new MemoryProfileStore(people, this.accounts),
      membership: new MemoryMembership(deps),
      administration: new MemoryAdministration(deps),
      usage,
      audit,
      auditSearch: new MemoryAuditSearch(audit, subjects),
      lookupProcessor: new MemoryLookupProcessor(deps),
    };
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}
}

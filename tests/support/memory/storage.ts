// A whole store in memory: the example that docs/writing-an-adapter.md explains.
import type { NameFacts } from "../../../src/domain/sync/people/owned-row.ts";
import type { Dump } from "../../../src/ports/copies/store-dump.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { ACCOUNTS, ERASED_NAMES } from "../../../src/repositories/accounts/account-collections.ts";
import { dumpMemory } from "./copies.ts";
import { type MemoryDocuments, ownDocuments } from "./documents.ts";
import type { MemoryRowSource } from "./row-source.ts";
import { MemoryTables } from "./tables.ts";
import type { MemoryTombstones } from "./tombstones.ts";

/** What instances share, as the processes of a service share a database. */
export class MemoryDatabase {
  deploymentId = "memory";
  readonly clock: Clock;
  readonly tables: MemoryTables;
  readonly documents: MemoryDocuments;
  /** Tells the HMACs of erased names. */
  hmacOf: ((username: string) => string) | null = null;

  /** `clock` is the store's own: leases, times of rows, sessions and lookups go by it in all instances. */
  constructor(clock: Clock) {
    this.clock = clock;
    this.tables = new MemoryTables(clock);
    this.documents = ownDocuments(clock, this.tables);
    this.tables.factsOf = (username) => this.#factsOf(username);
  }

  #factsOf(username: string): NameFacts | null {
    const account = this.documents.readNow(ACCOUNTS).find((one) => one.username === username);
    const hmac = this.hmacOf?.(username);
    const found = this.documents.readNow(ERASED_NAMES).find((one) => one.hmac === hmac);
    const erased = found === undefined ? null : { at: found.at, isTaken: found.isTaken };
    const ownsProfile = account !== undefined && account.passwordHash !== null;
    const hidesProfile = account?.hidesProfile ?? false;
    const isKnown = ownsProfile || hidesProfile || erased !== null;
    return isKnown ? { ownsProfile, hidesProfile, erased } : null;
  }
}

/** One instance on a database in memory. */
export class MemoryStorage implements FullStorage {
  get identity() {
    const { deploymentId } = this.#database;
    return { deploymentId, isNew: deploymentId === "memory" };
  }

  async hold(): Promise<void> {}

  watchDamage(): void {}

  async isDamaged(): Promise<boolean> {
    return false;
  }

  dump(): Promise<Dump> {
    return dumpMemory(this.#database);
  }

  readonly #database: MemoryDatabase;
  readonly documents: MemoryDocuments;
  readonly tables: MemoryTables;
  readonly rows: MemoryRowSource;
  readonly tombstones: MemoryTombstones;

  constructor(database: MemoryDatabase) {
    this.#database = database;
    this.documents = database.documents;
    this.tables = database.tables;
    this.rows = database.tables.rows;
    this.tombstones = database.tables.tombstones;
  }

  knowNames(hmacOf: (username: string) => string): void {
    this.#database.hmacOf = hmacOf;
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {}
}

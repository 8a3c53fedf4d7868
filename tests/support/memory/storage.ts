// A whole store in memory: the example that docs/writing-an-adapter.md explains.
import type { Dump } from "../../../src/ports/copies/store-dump.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { dumpMemory } from "./copies.ts";
import { type MemoryDocuments, ownDocuments } from "./documents.ts";
import { MemoryTables } from "./tables.ts";
import type { MemoryTombstones } from "./tombstones.ts";

/** What instances share, as the processes of a service share a database. */
export class MemoryDatabase {
  deploymentId = "memory";
  /** Instances that services use. */
  readonly holders = new Set<object>();
  readonly clock: Clock;
  readonly tables: MemoryTables;
  readonly documents: MemoryDocuments;

  /** `clock` is the store's own: leases, times of rows, sessions and lookups go by it in all instances. */
  constructor(clock: Clock) {
    this.clock = clock;
    this.tables = new MemoryTables(clock);
    this.documents = ownDocuments(clock, this.tables);
  }
}

/** One instance on a database in memory. */
export class MemoryStorage implements FullStorage {
  get identity() {
    const { deploymentId } = this.#database;
    return { deploymentId, isNew: deploymentId === "memory" };
  }

  async hold(): Promise<void> {
    this.#database.holders.add(this);
  }

  dump(): Promise<Dump> {
    return dumpMemory(this.#database);
  }

  readonly #database: MemoryDatabase;
  readonly documents: MemoryDocuments;
  readonly tables: MemoryTables;
  readonly tombstones: MemoryTombstones;

  constructor(database: MemoryDatabase) {
    this.#database = database;
    this.documents = database.documents;
    this.tables = database.tables;
    this.tombstones = database.tables.tombstones;
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.#database.holders.delete(this);
  }
}

import type { AppError } from "../domain/shared/errors.ts";
import type { StoreIdentity } from "../domain/shared/store-format.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { StoreCopies } from "./copies/store-copies.ts";
import type { AnyCollection, DocumentStore } from "./documents.ts";
import type { TableStore } from "./tables/table-store.ts";
import type { Tombstones } from "./tables/tombstones.ts";

/** How a store is opened. */
export interface StoreOptions {
  /** The tables that `tables.prepare()` will be called with: where the store cannot have one, nothing is written to it. D-11.4. */
  readonly tables?: readonly Table[];
  /** The collections of `documents`. */
  readonly collections?: readonly AnyCollection[];
  /** True for the program that fills the store. */
  readonly isFilling?: boolean;
}

/** An open store, with everything that repsync keeps. */
export interface FullStorage extends StoreCopies {
  readonly identity: StoreIdentity;
  /** The documents of the collections that the store was opened with. */
  readonly documents: DocumentStore;
  readonly tables: TableStore;
  readonly tombstones: Tombstones;

  /** Resolves when the store answers a trivial read; throws `store_unavailable` otherwise, within `timeoutMs`. */
  ping(timeoutMs: number): Promise<void>;

  /** Ends open work and closes every connection. Idempotent. Nothing may be called after it. */
  close(): Promise<void>;

  /**
   * Tells others until `close()` that a service uses the store, so that nobody fills it. Throws `invalid_request` when
   * somebody does already, and `store_unavailable`. D-10.7.
   */
  hold(): Promise<void>;

  /**
   * Calls back with each failure, from now on, that comes from a damaged file; absent of a store that watches over its files
   * itself, as a server does. D-11.6.
   */
  watchDamage?(onDamage: (failure: AppError) => void): void;

  /**
   * True when something in the file of the store is damaged, for which all of it is read; absent as `watchDamage`. Throws
   * `store_unavailable`. D-11.6.
   */
  isDamaged?(): Promise<boolean>;
}

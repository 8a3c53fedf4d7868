import type { AppError } from "../domain/shared/errors.ts";
import type { StoreIdentity } from "../domain/shared/store-format.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { StoreCopies } from "./copies/store-copies.ts";
import type { AnyCollection, DocumentStore } from "./documents.ts";
import type { TableStore } from "./tables/table-store.ts";
import type { Tombstones } from "./tables/tombstones.ts";

export interface StoreOptions {
  /** The tables that `tables.prepare()` will be called with: where the store cannot have one, nothing is written to it. D-11.4. */
  readonly tables?: readonly Table[];
  readonly collections?: readonly AnyCollection[];
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

  /** Marks the store as used by a service until `close()`: nobody fills it. Throws `invalid_request` when somebody does. D-10.7. */
  hold(): Promise<void>;

  /** Tells each failure that a damaged file causes from now on; absent for servers, which watch over their files. D-11.6. */
  watchDamage?(onDamage: (failure: AppError) => void): void;

  /** Reads the whole file; true when it is damaged. Absent as `watchDamage`. Throws `store_unavailable`. D-11.6. */
  isDamaged?(): Promise<boolean>;
}

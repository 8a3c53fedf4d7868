import type { MarkerStore } from "./marker-store.ts";
import type { TableStore } from "./table-store.ts";

/** One opened store with everything repsync keeps in it. */
export interface Storage {
  readonly tables: TableStore;
  readonly markers: MarkerStore;

  /** Resolves when the store answers a trivial read; throws `store_unavailable` otherwise, within `timeoutMs`. */
  ping(timeoutMs: number): Promise<void>;

  /** Ends open work and closes every connection. Idempotent. Nothing may be called after it. */
  close(): Promise<void>;
}

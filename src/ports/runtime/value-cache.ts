import type { CacheCounts } from "./metrics.ts";

/**
 * Values by key, each with the version it was read at. The caller compares that with the store's, in the transaction of the answer,
 * so that no answer is older than the transaction. A cache may forget anything at any time. D-6.3.
 */
export interface ValueCache<Value extends object> {
  /** Null unless a value is kept for the key. */
  get(key: string): Value | null;

  /** Keeps a value in place of any other of the key. */
  set(key: string, value: Value): void;

  delete(key: string): void;

  /** Forgets every value: after a failure versions may not go on from where they were. */
  clear(): void;

  counts(): CacheCounts;
}

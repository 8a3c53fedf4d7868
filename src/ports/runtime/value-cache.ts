import type { CacheCounts } from "./metrics.ts";

/**
 * Values by key, each with the version of what it was read from. The caller compares that with the store's, in the transaction
 * of the answer, so no answer is older than that transaction. A cache may forget anything at any time. D-6.3.
 */
export interface ValueCache<Value extends object> {
  /** Null unless a value is kept for the key. */
  get(key: string): Value | null;

  /** Keeps a value in place of any other of the key. */
  set(key: string, value: Value): void;

  delete(key: string): void;

  /** Forgets every value: for when a failure leaves doubt whether versions go on from where they were. */
  clear(): void;

  /** Since the start. */
  counts(): CacheCounts;
}

import type { CacheCounts } from "../runtime/metrics.ts";

/**
 * Values by key, each valid for one version of what it was read from. The caller takes the version from the store, in
 * the transaction of the answer; there is no other way to read, so no answer can be older than that transaction. A cache
 * may forget anything at any time. D-6.3.
 */
export interface VersionedCache<Value> {
  /** Null unless a value was kept for the key with exactly this version. */
  get(key: string, version: number): Value | null;

  /** Keeps a value in place of any other of the key. Versions of a key only grow. */
  set(key: string, version: number, value: Value): void;

  /** Forgets every value: for when a failure leaves doubt whether versions go on from where they were. */
  clear(): void;

  /** Since the start. */
  counts(): CacheCounts;
}

/**
 * Values by key, each good only in the state of the store it was read in. A cache may forget anything at any time; it
 * never gives a value for another version than the one it was kept with, so it cannot make an answer old: whoever asks
 * takes the version from the store, in the transaction of the answer. D-6.3.
 */
export interface VersionedCache<Value> {
  /** Null when there is none of this version. */
  get(key: string, version: number): Value | null;

  /** Keeps a value in place of any other of the key. */
  set(key: string, version: number, value: Value): void;

  /** How it has done since the start. */
  counts(): CacheCounts;
}

/** For /metrics. */
export interface CacheCounts {
  readonly hits: number;
  /** Keys that were not there, or with another version. */
  readonly misses: number;
  /** Values that went because the cache was full. */
  readonly evictions: number;
  readonly entries: number;
}

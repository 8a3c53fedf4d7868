import { LruValueCache } from "../../src/adapters/lru-cache/lru-value-cache.ts";
import type { ValueCache } from "../../src/ports/runtime/runtime.ts";

/** A cache that remembers nothing. */
export function forgetful<Value extends object>(): ValueCache<Value> {
  const counts = { hits: 0, misses: 0, evictions: 0, entries: 0 };
  const nothing = () => {};
  return { get: () => null, set: nothing, delete: nothing, clear: nothing, counts: () => counts };
}

/** The cache of the service, in which nothing grows old. */
export function remembering<Value extends object>(): ValueCache<Value> {
  const clock = { monotonicMs: () => 0 };
  return new LruValueCache<Value>({ maxEntries: 1_000, ttlMs: 1_000, clock });
}

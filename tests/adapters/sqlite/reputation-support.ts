// Stores of SQLite for the tests of the reputation half.
import { LruValueCache } from "../../../src/adapters/lru-cache/lru-value-cache.ts";
import type { ValueCache } from "../../../src/ports/runtime/value-cache.ts";
import type { OpenedStore } from "../../contract/harness.ts";
import { openParts, type ReputationParts } from "../../contract/lookups/reputation-harness.ts";
import type { RunStorage } from "../../support/run-parts.ts";

/** A store of the whole adapter as the suites of the reputation half take it. */
export async function asReputation(
  store: OpenedStore<RunStorage>,
  makeCache: <Value extends object>() => ValueCache<Value>,
): Promise<OpenedStore<ReputationParts>> {
  const { openSecond } = store;
  return {
    storage: await openParts(store.storage, makeCache),
    ...(openSecond === undefined
      ? {}
      : { openSecond: async () => await openParts(await openSecond(), makeCache) }),
    nowMs: store.nowMs,
    advance: store.advance,
    dispose: store.dispose,
  };
}

/** A cache that remembers nothing. */
export function forgetful<Value extends object>(): ValueCache<Value> {
  const counts = { hits: 0, misses: 0, evictions: 0, entries: 0 };
  const nothing = () => {};
  return { get: () => null, set: nothing, delete: nothing, clear: nothing, counts: () => counts };
}

/** The cache of the service. */
export function remembering<Value extends object>(): ValueCache<Value> {
  const clock = { monotonicMs: () => 0 };
  return new LruValueCache<Value>({ maxEntries: 1_000, ttlMs: 1_000, clock });
}

import { LRUCache } from "lru-cache";
import type { VersionedCache } from "../../ports/lookups/versioned-cache.ts";
import type { CacheCounts } from "../../ports/runtime/metrics.ts";
import type { Clock } from "../../ports/runtime/runtime.ts";

interface Entry<Value> {
  readonly version: number;
  readonly value: Value;
}

/** How much to remember, and for how long at most. */
interface LruOptions {
  readonly maxEntries: number;
  /** After this a value is dropped though nothing has changed, so that people nobody asks for are not kept. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Remembers the values that were asked for last. */
export class LruVersionedCache<Value> implements VersionedCache<Value> {
  readonly #options: LruOptions;
  /** Null before the first value: the library makes room for all entries at once. */
  #entries: LRUCache<string, Entry<Value>> | null = null;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor(options: LruOptions) {
    this.#options = options;
  }

  get(key: string, version: number): Value | null {
    const entry = this.#entries?.get(key);
    if (entry === undefined || entry.version !== version) {
      this.#misses++;
      return null;
    }
    this.#hits++;
    return entry.value;
  }

  set(key: string, version: number, value: Value): void {
    this.#entries ??= this.#make();
    this.#entries.set(key, { version, value });
  }

  clear(): void {
    this.#entries?.clear();
  }

  counts(): CacheCounts {
    return {
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
      entries: this.#entries?.size ?? 0,
    };
  }

  #make(): LRUCache<string, Entry<Value>> {
    const { maxEntries, ttlMs, clock } = this.#options;
    return new LRUCache<string, Entry<Value>>({
      max: maxEntries,
      ttl: ttlMs,
      ttlResolution: 0,
      ttlAutopurge: false,
      updateAgeOnGet: false,
      allowStale: false,
      // To the library a value that was kept at 0 has no age.
      perf: { now: () => clock.monotonicMs() + 1 },
      dispose: (_entry, _key, reason) => {
        if (reason === "evict") this.#evictions++;
      },
    });
  }
}

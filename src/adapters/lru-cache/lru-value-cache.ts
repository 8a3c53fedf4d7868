import { LRUCache } from "lru-cache";
import type { CacheCounts, Clock, ValueCache } from "../../ports/runtime/runtime.ts";

interface LruOptions {
  readonly maxEntries: number;
  /** Drops values of people whom nobody asks for. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "monotonicMs">;
}

export class LruValueCache<Value extends object> implements ValueCache<Value> {
  readonly #options: LruOptions;
  /** Null before the first value, as the library allocates all entries at once. */
  #entries: LRUCache<string, Value> | null = null;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor(options: LruOptions) {
    this.#options = options;
  }

  get(key: string): Value | null {
    const value = this.#entries?.get(key) ?? null;
    if (value === null) this.#misses++;
    else this.#hits++;
    return value;
  }

  set(key: string, value: Value): void {
    this.#entries ??= this.#make();
    this.#entries.set(key, value);
  }

  delete(key: string): void {
    this.#entries?.delete(key);
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

  #make(): LRUCache<string, Value> {
    const { maxEntries, ttlMs, clock } = this.#options;
    return new LRUCache<string, Value>({
      max: maxEntries,
      ttl: ttlMs,
      ttlResolution: 0,
      ttlAutopurge: false,
      updateAgeOnGet: false,
      allowStale: false,
      // The library takes a start of 0 for no start.
      perf: { now: () => clock.monotonicMs() + 1 },
      dispose: (_value, _key, reason) => {
        if (reason === "evict") this.#evictions++;
      },
    });
  }
}

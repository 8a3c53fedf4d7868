import { describe, expect, test } from "bun:test";
import { LruVersionedCache } from "../../../src/adapters/lru-cache/lru-versioned-cache.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";

function makeCache(maxEntries = 2) {
  const clock = new FakeClock();
  return { clock, cache: new LruVersionedCache<object>({ maxEntries, ttlMs: 1_000, clock }) };
}

describe("LRU cache", () => {
  test("D-6.3 get() gives the very value of the asked version, and of no other", () => {
    const { cache } = makeCache();
    const value = {};
    cache.set("a", 1, value);
    expect(cache.get("a", 1)).toBe(value);
    expect(cache.get("a", 2)).toBeNull();
    expect(cache.get("a", 0)).toBeNull();
    expect(cache.get("b", 1)).toBeNull();
    expect(cache.counts()).toEqual({ hits: 1, misses: 3, evictions: 0, entries: 1 });
  });

  test("D-6.3 set() replaces an older version and is replaced by one", () => {
    const { cache } = makeCache();
    const second = {};
    cache.set("a", 1, {});
    cache.set("a", 2, second);
    expect(cache.get("a", 1)).toBeNull();
    expect(cache.get("a", 2)).toBe(second);
  });

  test("D-6.8 what was used longest ago goes first when it is full, and is counted", () => {
    const { cache } = makeCache();
    cache.set("a", 1, {});
    cache.set("b", 1, {});
    cache.get("a", 1);
    cache.set("c", 1, {});
    expect(cache.get("b", 1)).toBeNull();
    expect(cache.get("a", 1)).not.toBeNull();
    expect(cache.counts()).toMatchObject({ evictions: 1, entries: 2 });
  });

  test("D-6.3 clear() forgets every value, and what is kept afterwards is found", () => {
    const { cache } = makeCache();
    const second = {};
    cache.set("a", 1, {});
    cache.set("b", 2, {});
    cache.clear();
    expect(cache.get("a", 1)).toBeNull();
    expect(cache.get("b", 2)).toBeNull();
    cache.set("a", 1, second);
    expect(cache.get("a", 1)).toBe(second);
    expect(cache.counts()).toEqual({ hits: 1, misses: 2, evictions: 0, entries: 1 });
  });

  test("D-6.3 a value goes when its time is over, by the clock it was given", () => {
    const { cache, clock } = makeCache();
    cache.set("a", 1, {});
    clock.advance(999);
    expect(cache.get("a", 1)).not.toBeNull();
    clock.advance(2);
    expect(cache.get("a", 1)).toBeNull();
  });
});

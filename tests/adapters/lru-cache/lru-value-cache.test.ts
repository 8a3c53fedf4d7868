import { describe, expect, test } from "bun:test";
import { LruValueCache } from "../../../src/adapters/lru-cache/lru-value-cache.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";

function makeCache(maxEntries = 2) {
  const clock = new FakeClock();
  return { clock, cache: new LruValueCache<object>({ maxEntries, ttlMs: 1_000, clock }) };
}

describe("LRU cache", () => {
  test("D-6.3 get() gives the very value of the key, and nothing of another", () => {
    const { cache } = makeCache();
    const value = {};
    cache.set("a", value);
    expect(cache.get("a")).toBe(value);
    expect(cache.get("b")).toBeNull();
    expect(cache.counts()).toEqual({ hits: 1, misses: 1, evictions: 0, entries: 1 });
  });

  test("D-6.3 set() replaces a value, and delete() ends it", () => {
    const { cache } = makeCache();
    const second = {};
    cache.delete("a");
    cache.set("a", {});
    cache.set("a", second);
    expect(cache.get("a")).toBe(second);
    cache.delete("a");
    expect(cache.get("a")).toBeNull();
    expect(cache.counts()).toEqual({ hits: 1, misses: 1, evictions: 0, entries: 0 });
  });

  test("D-6.8 what was used longest ago goes first when it is full, and is counted", () => {
    const { cache } = makeCache();
    cache.set("a", {});
    cache.set("b", {});
    cache.get("a");
    cache.set("c", {});
    expect(cache.get("b")).toBeNull();
    expect(cache.get("a")).not.toBeNull();
    expect(cache.counts()).toMatchObject({ evictions: 1, entries: 2 });
  });

  test("D-6.3 clear() forgets every value, and what is kept afterwards is found", () => {
    const { cache } = makeCache();
    const second = {};
    cache.set("a", {});
    cache.set("b", {});
    cache.clear();
    expect(cache.get("a")).toBeNull();
    expect(cache.get("b")).toBeNull();
    cache.set("a", second);
    expect(cache.get("a")).toBe(second);
    expect(cache.counts()).toEqual({ hits: 1, misses: 2, evictions: 0, entries: 1 });
  });

  test("D-6.3 a value goes when its time is over, by the clock it was given", () => {
    const { cache, clock } = makeCache();
    cache.set("a", {});
    clock.advance(999);
    expect(cache.get("a")).not.toBeNull();
    clock.advance(2);
    expect(cache.get("a")).toBeNull();
  });
});

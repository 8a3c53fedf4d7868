import { describe, expect, test } from "bun:test";
import {
  type CallSums,
  CallWindow,
  fullPages,
  NO_CALLS,
  neededPages,
} from "../../../../src/domain/reputation/accounts/call-window.ts";
import { SEED } from "../../../support/seed.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";

/** Keeps sums and pages as a store does, and reads only what is needed. */
class Kept {
  sums: CallSums = NO_CALLS;
  readonly pages = new Map<number, Uint8Array>();

  open(numbers: readonly number[]): CallWindow {
    return new CallWindow(
      this.sums,
      new Map(numbers.map((page) => [page, this.pages.get(page) ?? new Uint8Array()])),
    );
  }

  keep(window: CallWindow): void {
    for (const { page, packed } of window.filled) this.pages.set(page, packed);
    this.sums = window.sums;
    const left = new Set(fullPages(this.sums));
    for (const page of this.pages.keys()) if (!left.has(page)) this.pages.delete(page);
  }
}

interface Call {
  readonly atMs: number;
  calls: number;
}

/** The same, from a log of every bucket. */
function settled(log: readonly Call[], nowMs: number): Call[] {
  return log
    .map(({ atMs, calls }) => ({ atMs: Math.min(atMs, nowMs), calls }))
    .filter(({ atMs, calls }) => atMs > nowMs - 60_000 && calls > 0);
}

function blockingOf(log: readonly Call[], limit: number): number | null {
  let before = Math.max(0, log.reduce((sum, { calls }) => sum + calls, 0) - limit);
  for (const { atMs, calls } of log) {
    before -= calls;
    if (before < 0) return atMs;
  }
  return null;
}

describe("the calls of the last minute", () => {
  test("D-6.4 they count for 60 seconds, that of the last moment excluded", () => {
    const window = new CallWindow(NO_CALLS);
    window.add({ atMs: 1_000, calls: 2 });
    window.add({ atMs: 1_000, calls: 1 });
    window.add({ atMs: 5_000, calls: 200 });
    window.settle(60_999);
    expect([window.calls, window.blockingMs(300), window.blockingMs(100)]).toEqual([
      203, 1_000, 5_000,
    ]);
    window.settle(61_000);
    expect([window.calls, window.blockingMs(300)]).toEqual([200, 5_000]);
    window.settle(65_000);
    expect([window.calls, window.blockingMs(300)]).toEqual([0, null]);
  });

  test("D-6.4.2 those of a clock that was ahead count for a minute from when it was set back", () => {
    const window = new CallWindow(NO_CALLS);
    for (const atMs of [3_600_000, 3_600_001]) window.add({ atMs, calls: 1 });
    window.settle(1_000);
    expect([window.calls, window.blockingMs(2)]).toEqual([2, 1_000]);
    window.settle(60_999);
    expect(window.calls).toBe(2);
    window.settle(61_000);
    expect(window.calls).toBe(0);
  });

  test("D-6.4 a page has some two thousand bytes, and one of many is needed", () => {
    const kept = new Kept();
    let window = kept.open([]);
    for (let i = 0; i < 10_000; i++) window.add({ atMs: 3 * i, calls: 64 });
    kept.keep(window);
    expect([...kept.pages.values()].map((page) => page.length)).toEqual(Array(9).fill(2_048));
    expect(window.calls).toBe(640_000);
    // None has left the minute yet.
    expect(neededPages(kept.sums, 60_000 - 1, 1_000_000)).toEqual([]);
    const nowMs = 60_000 + 3 * 5_000;
    const needed = neededPages(kept.sums, nowMs, 1_000_000);
    expect(needed).toEqual([4]);
    window = kept.open(needed);
    window.settle(nowMs);
    expect([window.calls, window.blockingMs(1_000_000)]).toEqual([64 * 4_999, 15_003]);
    kept.keep(window);
    expect([...kept.pages.keys()]).toEqual([4, 5, 6, 7, 8]);
    expect(neededPages(kept.sums, nowMs, 100).length).toBe(5);
  });

  test("D-6.4, D-8.4 random calls, clocks and corrections end as a log of every call says", () => {
    const random = new SeededRandom(SEED);
    for (let run = 0; run < 30; run++) {
      const kept = new Kept();
      let log: Call[] = [];
      let nowMs = 1_000_000;
      for (let step = 0; step < 400; step++) {
        nowMs += random.chance(0.03) ? random.int(-90_000, 90_000) : random.int(0, 40);
        const limit = random.int(1, 40_000);
        const isTaken = log.length > 0 && random.chance(0.03);
        const needed = isTaken ? fullPages(kept.sums) : neededPages(kept.sums, nowMs, limit);
        const window = kept.open(needed);
        window.settle(nowMs);
        log = settled(log, nowMs);
        if (isTaken && log.length > 0) {
          const taken = { atMs: random.pick(log).atMs, calls: random.int(1, 99) };
          window.take(taken);
          for (const one of log.filter(({ atMs }) => atMs === taken.atMs)) {
            const less = Math.min(one.calls, taken.calls);
            one.calls -= less;
            taken.calls -= less;
          }
          log = settled(log, nowMs);
        } else {
          const total = log.reduce((sum, { calls }) => sum + calls, 0);
          expect([SEED, run, step, window.calls]).toEqual([SEED, run, step, total]);
          expect([SEED, window.blockingMs(limit)]).toEqual([SEED, blockingOf(log, limit)]);
          for (let i = random.int(0, 20); i > 0; i--) {
            const calls = random.chance(0.1) ? random.int(1, 100_000) : random.int(1, 90);
            window.add({ atMs: nowMs, calls });
            log.push({ atMs: nowMs, calls });
          }
        }
        kept.keep(window);
      }
    }
  }, 60_000);
});

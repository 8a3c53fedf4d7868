// The packed calls against a plain list of every call.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addCalls,
  blockingMs,
  type CallBuckets,
  NO_CALLS,
  settleBuckets,
  takeCalls,
} from "../../../../src/adapters/mongodb/accounts/call-buckets.ts";
import { SEED } from "../../../support/seed.ts";

const WINDOW_MS = 60_000;
const START_MS = 1_772_366_400_000;

/** A step of a clock that mostly goes on, and the calls that come then. */
const STEPS = fc.array(
  fc.record({
    stepMs: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
      { weight: 2, arbitrary: fc.integer({ min: 20_000, max: 70_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: -70_000, max: 0 }) },
    ),
    calls: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 100, max: 300 })),
    limit: fc.integer({ min: 1, max: 12 }),
    isTakenBack: fc.boolean(),
  }),
  { maxLength: 40 },
);

/** As in `MeterReading`: the call at this place from the oldest. */
function blockingOf(times: readonly number[], limit: number): number | null {
  return times[Math.max(0, times.length - limit)] ?? null;
}

describe("MongoDB: packed calls", () => {
  test("D-6.4 any history of calls is kept as a list of every call keeps it", () => {
    fc.assert(
      fc.property(STEPS, (steps) => {
        let nowMs = START_MS;
        let buckets: CallBuckets = NO_CALLS;
        let times: number[] = [];
        for (const { stepMs, calls, limit, isTakenBack } of steps) {
          nowMs += stepMs;
          buckets = settleBuckets(buckets, nowMs);
          times = times.map((atMs) => Math.min(atMs, nowMs)).filter((t) => t > nowMs - WINDOW_MS);
          expect(buckets.calls).toBe(times.length);
          expect(blockingMs(buckets, limit)).toBe(blockingOf(times, limit));
          buckets = addCalls(buckets, { atMs: nowMs, calls });
          times = [...times, ...Array(calls).fill(nowMs)];
          if (!isTakenBack) continue;
          buckets = takeCalls(buckets, { atMs: nowMs, calls });
          times = times.slice(0, times.length - calls);
          expect(buckets.calls).toBe(times.length);
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test("D-6.4 a minute with calls in every tenth millisecond takes some kilobytes", () => {
    let buckets: CallBuckets = NO_CALLS;
    for (let i = 0; i < 6_000; i++)
      buckets = addCalls(buckets, { atMs: START_MS + 10 * i, calls: 60 });
    expect(buckets.calls).toBe(360_000);
    expect(buckets.packed.length).toBe(12_000);
    expect(settleBuckets(buckets, START_MS + 90_000)).toMatchObject({ calls: 179_940 });
    expect(blockingMs(buckets, 359_939)).toBe(START_MS + 10);
    expect(settleBuckets(buckets, START_MS + 2 * WINDOW_MS)).toEqual(NO_CALLS);
  });
});

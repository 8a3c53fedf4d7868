// How much a run asks for at once, and when it asks again. D-4.6.
import { expect, test } from "bun:test";
import { ERROR_KINDS, REFUSALS } from "../../../src/domain/shared/error-kinds.ts";
import {
  BatchSize,
  halves,
  isTooLarge,
  isTooMuchAtOnce,
  isTooMuchToReceive,
  type RequestFailure,
  retryWaitMs,
  rowsThatFit,
} from "../../../src/domain/sync/run/pacing.ts";

test("D-4.6, D-7.9.3 batches start at 500 rows and double up to the configured maximum", () => {
  const size = new BatchSize(5000);
  const sizes = [size.rows];
  for (let i = 0; i < 5; i++) {
    size.grow(500);
    sizes.push(size.rows);
  }
  expect(sizes).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
});

test("D-7.9.3 a batch that took longer than half a second does not let the next one be larger", () => {
  const size = new BatchSize(5000);
  size.grow(501);
  expect(size.rows).toBe(500);
  size.grow(499);
  expect(size.rows).toBe(1000);
});

test("D-4.6 a smaller maximum is where they start", () => {
  expect(new BatchSize(300).rows).toBe(300);
  expect(new BatchSize(0).rows).toBe(1);
});

test("D-4.6 a batch that took too long is halved, and grows again by an eighth at a time", () => {
  const size = new BatchSize(5000, 1000);
  size.shrink(1000);
  expect(size.rows).toBe(500);
  size.grow(0);
  expect(size.rows).toBe(563);
  for (let i = 0; i < 100; i++) size.grow(0);
  expect(size.rows).toBe(5000);
});

test("D-4.6 a batch that is too large is halved for good", () => {
  const size = new BatchSize(5000, 1000);
  size.limit(1000);
  for (let i = 0; i < 100; i++) size.grow(0);
  expect(size.rows).toBe(500);
});

test("D-4.6 halves of halves end at one row", () => {
  const size = new BatchSize(5000, 4);
  for (const [tooMany, left] of [
    [4, 2],
    [2, 1],
    [1, 1],
  ] as const) {
    size.shrink(tooMany);
    expect(size.rows).toBe(left);
  }
});

test("D-4.6 a batch is cut by its bytes, but has a row at least", () => {
  const rows = [{ a: "x".repeat(86) }, { a: "x".repeat(86) }, { a: "x".repeat(86) }];
  expect(rowsThatFit(rows, 1000)).toBe(3);
  expect(rowsThatFit(rows, 200)).toBe(2);
  expect(rowsThatFit(rows, 10)).toBe(1);
  expect(rowsThatFit([], 10)).toBe(0);
});

test("D-4.6 rows with deep values count with all of them", () => {
  const rows = [{ a: { b: ["x".repeat(500), "x".repeat(500)] } }, { a: null }];
  expect(rowsThatFit(rows, 1000)).toBe(1);
});

test("D-4.6 the first half is not the shorter one", () => {
  expect(halves([1, 2, 3])).toEqual([[1, 2], [3]]);
  expect(halves([1])).toEqual([[1], []]);
});

function failure(changes: Partial<RequestFailure>): RequestFailure {
  const { kind = "status", reason = null } = changes;
  const { isRecoverable } = reason === null ? ERROR_KINDS[kind] : REFUSALS[reason];
  return { kind, reason, retryAfterSeconds: null, isTooLong: false, isRecoverable, ...changes };
}

const FRESH = { attempts: 1, stalledMs: 0, random: 0 };

test("D-4.6 waits double from 250 ms to 10 s, half of each by chance", () => {
  const waits = (random: number) =>
    [1, 2, 3, 4, 5, 6, 7].map((attempts) =>
      retryWaitMs(failure({ kind: "unreachable" }), { ...FRESH, attempts, random }),
    );
  expect(waits(0)).toEqual([125, 250, 500, 1000, 2000, 4000, 5000]);
  expect(waits(0.5)).toEqual([188, 375, 750, 1500, 3000, 6000, 7500]);
  expect(waits(0.999999)).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000]);
});

test.each([
  ["unreachable", null],
  ["timeout", null],
  ["checksum_mismatch", null],
  ["status", "passing"],
] as const)("D-4.6 %s %p has 8 attempts", (kind, reason) => {
  expect(retryWaitMs(failure({ kind, reason }), { ...FRESH, attempts: 7 })).not.toBe(null);
  expect(retryWaitMs(failure({ kind, reason }), { ...FRESH, attempts: 8 })).toBe(null);
});

test.each(["key_rejected", "sync_disabled", "too_large", "not_found", "moved", "refused"] as const)(
  "D-4.6 %s is final",
  (reason) => {
    expect(retryWaitMs(failure({ reason }), FRESH)).toBe(null);
  },
);

test("D-4.6 a reply that is not what the document says has 3 attempts", () => {
  const invalid = failure({ kind: "invalid_reply" });
  expect(retryWaitMs(invalid, { ...FRESH, attempts: 2 })).toBe(250);
  expect(retryWaitMs(invalid, { ...FRESH, attempts: 3 })).toBe(null);
});

test("a request that its caller ended is not repeated", () => {
  expect(retryWaitMs(failure({ kind: "aborted" }), FRESH)).toBe(null);
});

test("D-4.6 Retry-After is waited out, when it is longer than the wait would be", () => {
  const busy = (retryAfterSeconds: number) => failure({ reason: "passing", retryAfterSeconds });
  expect(retryWaitMs(busy(7), FRESH)).toBe(7000);
  expect(retryWaitMs(busy(0), FRESH)).toBe(125);
});

test("D-4.6 no wait goes beyond 45 s without progress", () => {
  const busy = failure({ reason: "passing", retryAfterSeconds: 5 });
  expect(retryWaitMs(busy, { ...FRESH, stalledMs: 39_999 })).toBe(5000);
  expect(retryWaitMs(busy, { ...FRESH, stalledMs: 40_000 })).toBe(null);
  expect(retryWaitMs(failure({ kind: "timeout" }), { ...FRESH, stalledMs: 45_000 })).toBe(null);
});

test("D-4.6 413 and a timeout ask for smaller batches, 413 for good", () => {
  const timeout = failure({ kind: "timeout" });
  const tooLarge = failure({ reason: "too_large" });
  expect([isTooMuchAtOnce(timeout), isTooMuchAtOnce(tooLarge)]).toEqual([true, true]);
  expect([isTooLarge(timeout), isTooLarge(tooLarge)]).toEqual([false, true]);
  expect(isTooMuchAtOnce(failure({ reason: "passing" }))).toBe(false);
});

test("D-4.6 a timeout and a reply that is too long ask for smaller pages", () => {
  expect(isTooMuchToReceive(failure({ kind: "timeout" }))).toBe(true);
  expect(isTooMuchToReceive(failure({ kind: "invalid_reply", isTooLong: true }))).toBe(true);
  expect(isTooMuchToReceive(failure({ kind: "invalid_reply" }))).toBe(false);
});

test("D-11.1 a page has as many rows as are taken in within a third of a lease", () => {
  const size = new BatchSize(5000, 1000);
  size.takeIn(1000, 3_333);
  expect(size.rows).toBe(1000);
  size.takeIn(1000, 10_000);
  expect(size.rows).toBe(333);
  size.grow(10);
  expect(size.rows).toBe(375);
  size.takeIn(1, 100_000);
  expect(size.rows).toBe(1);
});

// Which of the callers' traces are kept. D-10.9.
import { expect, test } from "bun:test";
import { ROOT_CONTEXT, TraceFlags, trace } from "@opentelemetry/api";
import { SamplingDecision } from "@opentelemetry/sdk-trace-base";
import { CallerSampler } from "../../../src/adapters/opentelemetry/start-tracing.ts";
import type { Sampling } from "../../../src/domain/shared/sampling.ts";
import { SeededRandom } from "../../support/seeded-random.ts";

const WITHIN: Sampling = { rate: 0.1, doesCallerDecide: true, isCallerLimited: true };
const SPAN_ID = "fedcba9876543210";

/** Whether the trace of a caller is kept. */
function isKept(sampler: CallerSampler, traceId: string, isWanted = true): boolean {
  const traceFlags = isWanted ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const parent = { traceId, spanId: SPAN_ID, traceFlags, isRemote: true };
  const context = trace.setSpanContext(ROOT_CONTEXT, parent);
  const { decision } = sampler.shouldSample(context, traceId);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

const countKept = (sampler: CallerSampler, ids: readonly string[], isWanted = true) =>
  ids.filter((id) => isKept(sampler, id, isWanted)).length;

/** Trace ids as honest callers make them. */
function randomIds(count: number): string[] {
  const random = new SeededRandom(7);
  const hex = () =>
    Math.floor(random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return Array.from({ length: count }, () => hex() + hex() + hex() + hex());
}

test("D-10.9 of callers that want every trace kept, the rate is", () => {
  const kept = countKept(new CallerSampler(WITHIN), randomIds(10_000));
  expect(kept).toBeGreaterThan(800);
  expect(kept).toBeLessThanOrEqual(1_001);
});

test("D-10.9 nor is more kept of a caller that chooses its ids so that they are", () => {
  const ids = Array.from({ length: 10_000 }, () => `${"0".repeat(31)}1`);
  const kept = countKept(new CallerSampler(WITHIN), ids);
  expect([kept >= 999, kept <= 1_001]).toEqual([true, true]);
});

test("D-10.9 a caller that wants no trace kept has none kept, and what it did not use is not saved for ever", () => {
  const sampler = new CallerSampler(WITHIN);
  expect(countKept(sampler, randomIds(10_000), false)).toBe(0);
  const ids = Array.from({ length: 100 }, () => `${"0".repeat(31)}1`);
  const kept = countKept(sampler, ids);
  expect([kept >= 19, kept <= 20]).toEqual([true, true]);
});

test("D-10.9 all spans of a trace that is kept are kept", () => {
  const sampler = new CallerSampler(WITHIN);
  const isKeptBelow = (traceId: string) => {
    const parent = { traceId, spanId: SPAN_ID, traceFlags: TraceFlags.SAMPLED };
    const context = trace.setSpanContext(ROOT_CONTEXT, parent);
    return sampler.shouldSample(context, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  };
  expect(randomIds(100).filter(isKeptBelow)).toHaveLength(100);
});

test("D-10.9 without a rate of its own the service follows its caller", () => {
  const ids = randomIds(100);
  for (const rate of [0, 1]) {
    const sampling = { rate, doesCallerDecide: true, isCallerLimited: false };
    expect(countKept(new CallerSampler(sampling), ids)).toBe(100);
    expect(countKept(new CallerSampler(sampling), ids, false)).toBe(0);
  }
});

test("D-10.9 a service that asks no caller keeps what the rate says, wanted or not", () => {
  const sampling = { rate: 1, doesCallerDecide: false, isCallerLimited: true };
  expect(countKept(new CallerSampler(sampling), randomIds(100), false)).toBe(100);
});

test("D-10.9 two deployments with one rate keep the same traces", () => {
  const [first, second] = [new CallerSampler(WITHIN), new CallerSampler(WITHIN)];
  const begun = randomIds(5_000).map((id) => {
    const { decision } = first.shouldSample(ROOT_CONTEXT, id);
    return { id, isWanted: decision === SamplingDecision.RECORD_AND_SAMPLED };
  });
  const wanted = begun.filter(({ isWanted }) => isWanted);
  const both = begun.filter(({ id, isWanted }) => isKept(second, id, isWanted));
  expect(wanted.length).toBeGreaterThan(400);
  expect(both.length).toBeGreaterThan(wanted.length * 0.8);
});

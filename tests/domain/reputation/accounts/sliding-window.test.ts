import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type EffectiveLimits, monthOf } from "../../../../src/domain/reputation/accounts/plan.ts";
import { checkProperty } from "../../../support/seed.ts";
import {
  type CallLog,
  decideCall,
  decideWindow,
  NO_USAGE,
  releaseCall,
  type UsageState,
  usageOf,
} from "./sliding-window.ts";

const NOON_MS = Date.parse("2026-03-01T12:00:00Z");
const FREE: EffectiveLimits = { callsPerMinute: 30, callsPerMonth: 1_000 };
const UNLIMITED: EffectiveLimits = { callsPerMinute: 6_000, callsPerMonth: null };
const SMALL: EffectiveLimits = { callsPerMinute: 3, callsPerMonth: 5 };

/** Makes calls at the given times and returns the last outcome, with the state after it. */
function callAt(limits: EffectiveLimits, ...timesMs: number[]) {
  let state: UsageState = NO_USAGE;
  let decision = decideCall(state, { limits, nowMs: timesMs[0] ?? NOON_MS });
  for (const nowMs of timesMs) {
    decision = decideCall(state, { limits, nowMs });
    state = decision.state;
  }
  return decision;
}

describe("the minute", () => {
  test("D-6.4, D-6.4.1 a call 60 seconds after the first of a full window passes, none before", () => {
    const full = [0, 1, 2].map((ms) => NOON_MS + ms);
    expect(callAt(SMALL, ...full).outcome).toBe("allowed");
    expect(callAt(SMALL, ...full, NOON_MS + 59_999).outcome).toBe("rate_limited");
    expect(callAt(SMALL, ...full, NOON_MS + 60_000).outcome).toBe("allowed");
    expect(callAt(SMALL, ...full, NOON_MS + 60_000, NOON_MS + 60_000).outcome).toBe("rate_limited");
  });

  test("D-6.4 thirty calls at once are all allowed, the next is not", () => {
    const thirty = Array.from({ length: 30 }, () => NOON_MS);
    const last = callAt(FREE, ...thirty);
    expect(last.outcome).toBe("allowed");
    expect(last.minute).toEqual({ limit: 30, used: 30, remaining: 0, resetSeconds: 60 });
    expect(callAt(FREE, ...thirty, NOON_MS).outcome).toBe("rate_limited");
  });

  test("D-5.3 remaining and reset are those after the call", () => {
    expect(callAt(FREE, NOON_MS).minute).toEqual({
      limit: 30,
      used: 1,
      remaining: 29,
      resetSeconds: 60,
    });
    expect(callAt(FREE, NOON_MS, NOON_MS + 20_500).minute).toEqual({
      limit: 30,
      used: 2,
      remaining: 28,
      resetSeconds: 40,
    });
  });

  test("D-6.4, D-6.4.1 refused calls do not count, and do not move the reset", () => {
    const full = [0, 1, 2].map((ms) => NOON_MS + ms);
    const refused = callAt(SMALL, ...full, NOON_MS + 30_000, NOON_MS + 58_001);
    expect(refused.outcome).toBe("rate_limited");
    expect(refused.minute).toEqual({ limit: 3, used: 3, remaining: 0, resetSeconds: 2 });
    expect(refused.state.minute).toEqual(full);
    expect(refused.month.used).toBe(3);
  });

  test("D-5.7 after a limit is lowered, calls pass again when the excess has left", () => {
    const log: CallLog = [0, 1000, 2000, 3000, 4000].map((ms) => NOON_MS + ms);
    const state = { minute: log, month: { month: "2026-03", used: 5 } };
    const limits = { callsPerMinute: 2, callsPerMonth: 100 };
    const refused = decideCall(state, { limits, nowMs: NOON_MS + 5000 });
    expect(refused.outcome).toBe("rate_limited");
    expect(refused.minute).toEqual({ limit: 2, used: 5, remaining: 0, resetSeconds: 58 });
    expect(decideCall(state, { limits, nowMs: NOON_MS + 62_999 }).outcome).toBe("rate_limited");
    expect(decideCall(state, { limits, nowMs: NOON_MS + 63_000 }).outcome).toBe("allowed");
  });

  test("D-6.4, D-6.4.2 a clock that is set back blocks for a minute at most and admits no more", () => {
    const hourLater = [0, 1, 2].map((ms) => NOON_MS + 3_600_000 + ms);
    const refused = callAt(SMALL, ...hourLater, NOON_MS);
    expect(refused.outcome).toBe("rate_limited");
    expect(refused.state.minute).toEqual([NOON_MS, NOON_MS, NOON_MS]);
    expect(refused.minute.resetSeconds).toBe(60);
    expect(callAt(SMALL, ...hourLater, NOON_MS, NOON_MS + 60_000).outcome).toBe("allowed");
  });

  test("D-6.4 the log never grows beyond the limit", () => {
    const times = Array.from({ length: 500 }, (_, i) => NOON_MS + 1000 * i);
    expect(callAt({ ...SMALL, callsPerMonth: null }, ...times).state.minute).toHaveLength(3);
  });
});

describe("the month", () => {
  test("D-6.4 the month is the UTC calendar month", () => {
    expect(monthOf(Date.parse("2026-01-31T23:59:59.999Z"))).toBe("2026-01");
    expect(monthOf(Date.parse("2026-02-01T00:00:00Z"))).toBe("2026-02");
    const last = Date.parse("2026-12-31T23:59:59.999Z");
    const used = { minute: [], month: { month: "2026-12", used: 5 } };
    const refused = decideCall(used, { limits: SMALL, nowMs: last });
    expect(refused.outcome).toBe("quota_exceeded");
    expect(refused.month).toEqual({ limit: 5, used: 5, remaining: 0, resetSeconds: 1 });
    const allowed = decideCall(refused.state, { limits: SMALL, nowMs: last + 1 });
    expect(allowed.outcome).toBe("allowed");
    expect(allowed.state.month).toEqual({ month: "2027-01", used: 1 });
  });

  test("D-5.3 the month resets at its end", () => {
    expect(callAt(FREE, NOON_MS).month).toEqual({
      limit: 1_000,
      used: 1,
      remaining: 999,
      resetSeconds: 30 * 86_400 + 43_200,
    });
    const leap = Date.parse("2028-02-29T23:59:00Z");
    expect(callAt(FREE, leap).month.resetSeconds).toBe(60);
  });

  test("D-6.4 a call over the quota counts in neither limit", () => {
    const state = { minute: [NOON_MS - 1000], month: { month: "2026-03", used: 5 } };
    const refused = decideCall(state, { limits: SMALL, nowMs: NOON_MS });
    expect(refused.outcome).toBe("quota_exceeded");
    expect(refused.state).toEqual(state);
    expect(refused.minute).toEqual({ limit: 3, used: 1, remaining: 2, resetSeconds: 59 });
  });

  test("D-5.2, D-5.2.5 when both limits are reached the quota is named", () => {
    const minute = [NOON_MS, NOON_MS, NOON_MS];
    const state = { minute, month: { month: "2026-03", used: 5 } };
    expect(decideCall(state, { limits: SMALL, nowMs: NOON_MS }).outcome).toBe("quota_exceeded");
  });

  test("R-8, D-5.5 an unlimited month counts and never refuses", () => {
    const state = { minute: [], month: { month: "2026-03", used: 10_000_000 } };
    const allowed = decideCall(state, { limits: UNLIMITED, nowMs: NOON_MS });
    expect(allowed.outcome).toBe("allowed");
    expect(allowed.month).toEqual({
      limit: null,
      used: 10_000_001,
      remaining: null,
      resetSeconds: 30 * 86_400 + 43_200,
    });
  });

  test("D-8.4 a stored month that is later than now counts as this month", () => {
    const state = { minute: [], month: { month: "2026-04", used: 4 } };
    const nowMs = Date.parse("2026-03-31T23:59:59Z");
    const allowed = decideCall(state, { limits: SMALL, nowMs });
    expect(allowed.state.month).toEqual({ month: "2026-03", used: 5 });
    expect(allowed.month.resetSeconds).toBe(1);
    const refused = decideCall(allowed.state, { limits: SMALL, nowMs });
    expect([refused.outcome, refused.state]).toEqual(["quota_exceeded", allowed.state]);
  });
});

describe("looking and taking back", () => {
  test("D-5.5 usageOf() counts nothing", () => {
    expect(usageOf(NO_USAGE, { limits: SMALL, nowMs: NOON_MS })).toEqual({
      minute: { limit: 3, used: 0, remaining: 3, resetSeconds: 0 },
      month: { limit: 5, used: 0, remaining: 5, resetSeconds: 30 * 86_400 + 43_200 },
    });
    const state = { minute: [NOON_MS - 60_000, NOON_MS], month: { month: "2026-02", used: 5 } };
    const usage = usageOf(state, { limits: SMALL, nowMs: NOON_MS });
    expect(usage.minute.used).toBe(1);
    expect(usage.month.used).toBe(0);
  });

  test("D-5.8 releaseCall() takes one call back from both limits", () => {
    const { state } = callAt(FREE, NOON_MS, NOON_MS, NOON_MS + 5);
    expect(releaseCall(state, NOON_MS)).toEqual({
      minute: [NOON_MS, NOON_MS + 5],
      month: { month: "2026-03", used: 2 },
    });
  });

  test("D-5.8 releaseCall() leaves a later month and unknown calls alone", () => {
    const state = { minute: [NOON_MS], month: { month: "2026-03", used: 1 } };
    const before = Date.parse("2026-02-28T23:59:59Z");
    expect(releaseCall(state, before)).toEqual(state);
    expect(releaseCall(NO_USAGE, NOON_MS)).toEqual(NO_USAGE);
  });

  test("D-5.4 decideWindow() counts failures over another window alike", () => {
    const window = { limit: 2, windowMs: 900_000 };
    const first = decideWindow([], { ...window, nowMs: NOON_MS });
    const second = decideWindow(first.log, { ...window, nowMs: NOON_MS + 1 });
    expect(second.isAllowed).toBe(true);
    const third = decideWindow(second.log, { ...window, nowMs: NOON_MS + 2 });
    expect(third.isAllowed).toBe(false);
    expect(third.quota.resetSeconds).toBe(900);
    expect(decideWindow(third.log, { ...window, nowMs: NOON_MS + 900_000 }).isAllowed).toBe(true);
  });
});

describe("against a model that remembers every call", () => {
  const gaps = fc.array(
    fc.oneof(fc.nat(3), fc.nat(3_000), fc.nat(30_000), fc.constantFrom(59_999, 60_000, 60_001)),
    { maxLength: 200 },
  );
  const limits = fc.record({
    callsPerMinute: fc.integer({ min: 1, max: 8 }),
    callsPerMonth: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 60 })),
  });

  test("D-6.4 every decision is the model's, and no 60 seconds hold more than the limit", () => {
    checkProperty(
      fc.property(limits, gaps, (plan, steps) => {
        const accepted: number[] = [];
        let state: UsageState = NO_USAGE;
        let nowMs = Date.parse("2026-03-31T23:50:00Z");
        for (const stepMs of steps) {
          nowMs += stepMs;
          const decision = decideCall(state, { limits: plan, nowMs });
          const inMinute = accepted.filter((at) => at > nowMs - 60_000).length;
          const inMonth = accepted.filter((at) => sameMonth(at, nowMs)).length;
          const isAllowed =
            inMinute < plan.callsPerMinute &&
            (plan.callsPerMonth === null || inMonth < plan.callsPerMonth);
          expect(decision.outcome === "allowed").toBe(isAllowed);
          if (isAllowed) accepted.push(nowMs);
          expect(decision.minute.used).toBe(inMinute + (isAllowed ? 1 : 0));
          expect(decision.month.used).toBe(inMonth + (isAllowed ? 1 : 0));
          state = decision.state;
        }
        for (const start of accepted) {
          const within = accepted.filter((at) => at >= start && at < start + 60_000);
          expect(within.length).toBeLessThanOrEqual(plan.callsPerMinute);
        }
      }),
      2_000,
    );
  }, 60_000);

  test("D-6.4 a refused caller who waits for the reset is let in, and not a second earlier", () => {
    checkProperty(
      fc.property(fc.integer({ min: 1, max: 8 }), gaps, (callsPerMinute, steps) => {
        const plan = { callsPerMinute, callsPerMonth: null };
        let state: UsageState = NO_USAGE;
        let nowMs = NOON_MS;
        for (const stepMs of steps) {
          nowMs += stepMs;
          const { outcome, state: next, minute } = decideCall(state, { limits: plan, nowMs });
          state = next;
          if (outcome === "allowed") continue;
          const resetMs = nowMs + minute.resetSeconds * 1000;
          expect(minute.resetSeconds).toBeGreaterThanOrEqual(1);
          expect(decideCall(state, { limits: plan, nowMs: resetMs }).outcome).toBe("allowed");
          const early = decideCall(state, { limits: plan, nowMs: Math.max(nowMs, resetMs - 1000) });
          expect(early.outcome).toBe("rate_limited");
        }
      }),
      1_000,
    );
  }, 60_000);

  test("D-6.4 with a clock that jumps, never more than the limit pass in real 60 seconds", () => {
    const steps = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: -90_000, max: 0 })), {
      maxLength: 60,
    });
    checkProperty(
      fc.property(fc.integer({ min: 1, max: 5 }), steps, (limit, moves) => {
        let log: CallLog = [];
        let realMs = NOON_MS;
        let skewMs = 0;
        const accepted: number[] = [];
        for (const [stepMs, jumpMs] of moves) {
          realMs += stepMs;
          skewMs += jumpMs;
          const nowMs = realMs + skewMs;
          const { isAllowed, log: next } = decideWindow(log, { limit, windowMs: 60_000, nowMs });
          log = next;
          if (isAllowed) accepted.push(realMs);
        }
        for (const start of accepted) {
          const within = accepted.filter((at) => at >= start && at < start + 60_000);
          expect(within.length).toBeLessThanOrEqual(limit);
        }
      }),
      2_000,
    );
  }, 60_000);
});

function sameMonth(aMs: number, bMs: number): boolean {
  const [a, b] = [new Date(aMs), new Date(bMs)];
  return a.getUTCMonth() === b.getUTCMonth() && a.getUTCFullYear() === b.getUTCFullYear();
}

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chargeCalls } from "../../../../src/domain/reputation/accounts/call-meter.ts";
import { type MonthUsage, monthOf } from "../../../../src/domain/reputation/accounts/plan.ts";
import { checkProperty } from "../../../support/seed.ts";
import { CallLog } from "./call-log.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
const LIMITS = { callsPerMinute: 30, callsPerMonth: 1_000 };

/** Charges one call at a time, in a minute without others. */
function chargeOne(at: string, month: MonthUsage | null, limits: typeof LIMITS | null = LIMITS) {
  const reading = { minuteCalls: 0, blockingMs: null, month };
  const unlimited = { callsPerMinute: 6_000, callsPerMonth: null };
  return chargeCalls(reading, { calls: 1, limits: limits ?? unlimited, nowMs: Date.parse(at) });
}

describe("chargeCalls()", () => {
  test("D-6.4 admits what both limits leave, and tells what stands in the way of the rest", () => {
    const reading = { minuteCalls: 28, blockingMs: NOW_MS - 10_000, month: null };
    const charge = chargeCalls(reading, { calls: 5, limits: LIMITS, nowMs: NOW_MS });
    expect(charge).toMatchObject({
      admitted: 2,
      refusal: "rate_limited",
      month: { month: "2026-11", used: 2 },
    });
    expect(charge.quotasAfter(1).minute).toEqual({
      limit: 30,
      used: 29,
      remaining: 1,
      resetSeconds: 50,
    });
  });

  test("D-5.2, D-5.2.5 the month stands in the way first when both limits are reached", () => {
    const month = { month: "2026-11", used: 998 };
    const reading = { minuteCalls: 28, blockingMs: NOW_MS, month };
    const charge = chargeCalls(reading, { calls: 3, limits: LIMITS, nowMs: NOW_MS });
    expect([charge.admitted, charge.refusal]).toEqual([2, "quota_exceeded"]);
  });

  test("D-6.4 the calls of a month that is over do not count in the next one", () => {
    const reading = { minuteCalls: 0, blockingMs: null, month: { month: "2026-10", used: 1_000 } };
    const charge = chargeCalls(reading, { calls: 2, limits: LIMITS, nowMs: NOW_MS });
    expect(charge).toMatchObject({
      admitted: 2,
      refusal: null,
      month: { month: "2026-11", used: 2 },
    });
    expect(charge.quotasAfter(2).month).toMatchObject({ limit: 1_000, used: 2, remaining: 998 });
  });

  test("D-8.4 a full month that lies in the future is kept as this month", () => {
    const month = { month: "2027-11", used: 1_000 };
    const reading = { minuteCalls: 0, blockingMs: null, month };
    const charge = chargeCalls(reading, { calls: 1, limits: LIMITS, nowMs: NOW_MS });
    expect([charge.refusal, charge.month]).toEqual([
      "quota_exceeded",
      { month: "2026-11", used: 1_000 },
    ]);
  });

  test("D-5.7 after a smaller plan nothing remains, and what was used stays told", () => {
    const month = { month: "2026-11", used: 1_200 };
    const reading = { minuteCalls: 40, blockingMs: NOW_MS - 10_000, month };
    const charge = chargeCalls(reading, { calls: 1, limits: LIMITS, nowMs: NOW_MS });
    expect(charge).toMatchObject({
      admitted: 0,
      refusal: "quota_exceeded",
      month,
    });
    expect(charge.quotasAfter(0)).toMatchObject({
      minute: { limit: 30, used: 40, remaining: 0 },
      month: { limit: 1_000, used: 1_200, remaining: 0 },
    });
    const roomy = { ...reading, month: { month: "2026-11", used: 100 } };
    const limited = chargeCalls(roomy, { calls: 1, limits: LIMITS, nowMs: NOW_MS });
    expect([limited.admitted, limited.refusal]).toEqual([0, "rate_limited"]);
  });

  test("D-6.4 the month is the UTC calendar month", () => {
    expect(monthOf(Date.parse("2026-01-31T23:59:59.999Z"))).toBe("2026-01");
    expect(monthOf(Date.parse("2026-02-01T00:00:00Z"))).toBe("2026-02");
    const full = { month: "2026-12", used: 1_000 };
    const refused = chargeOne("2026-12-31T23:59:59.999Z", full);
    expect([refused.refusal, refused.month]).toEqual(["quota_exceeded", full]);
    expect(refused.quotasAfter(0).month).toEqual({
      ...{ limit: 1_000, used: 1_000, remaining: 0, resetSeconds: 1 },
    });
    const admitted = chargeOne("2027-01-01T00:00:00Z", full);
    expect([admitted.refusal, admitted.month]).toEqual([null, { month: "2027-01", used: 1 }]);
  });

  test("D-5.3 remaining and reset are those after the call, of the month at its end", () => {
    expect(chargeOne("2026-03-01T12:00:00Z", null).quotasAfter(1)).toEqual({
      minute: { limit: 30, used: 1, remaining: 29, resetSeconds: 60 },
      month: { limit: 1_000, used: 1, remaining: 999, resetSeconds: 30 * 86_400 + 43_200 },
    });
    const { month } = chargeOne("2028-02-29T23:59:00Z", null).quotasAfter(1);
    expect(month.resetSeconds).toBe(60);
  });

  test("R-8, D-5.5 an unlimited month counts and never refuses", () => {
    const month = { month: "2026-03", used: 10_000_000 };
    const charge = chargeOne("2026-03-01T12:00:00Z", month, null);
    expect([charge.admitted, charge.refusal]).toEqual([1, null]);
    expect(charge.quotasAfter(1).month).toEqual({
      ...{ limit: null, used: 10_000_001, remaining: null, resetSeconds: 30 * 86_400 + 43_200 },
    });
  });

  test("D-6.4 calls at one moment are charged as a log of every call decides them one by one", () => {
    const moves = fc.array(
      fc.record({ waitMs: fc.nat(40_000), calls: fc.integer({ min: 1, max: 9 }) }),
    );
    const limits = fc.record({
      callsPerMinute: fc.integer({ min: 1, max: 12 }),
      callsPerMonth: fc.option(fc.integer({ min: 1, max: 60 })),
    });
    checkProperty(
      fc.property(moves, limits, (steps, effective) => {
        const log = new CallLog();
        let month: MonthUsage | null = null;
        let nowMs = Date.parse("2026-11-30T23:58:00Z");
        for (const { waitMs, calls } of steps) {
          nowMs += waitMs;
          const minute = log.minuteAt(nowMs);
          const reading = { minuteCalls: minute.length, blockingMs: minute[0] ?? null, month };
          const charge = chargeCalls(reading, { calls, limits: effective, nowMs });
          for (let i = 0; i < calls; i++) {
            const { outcome, ...quotas } = log.decide(effective, nowMs);
            const isAdmitted = i < charge.admitted;
            expect(isAdmitted ? "allowed" : charge.refusal).toBe(outcome);
            expect(charge.quotasAfter(isAdmitted ? i + 1 : charge.admitted)).toEqual(quotas);
          }
          month = charge.month;
        }
      }),
    );
  });
});

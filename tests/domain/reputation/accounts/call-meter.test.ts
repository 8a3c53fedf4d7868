import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chargeCalls } from "../../../../src/domain/reputation/accounts/call-meter.ts";
import { checkProperty } from "../../../support/seed.ts";
import { decideCall, NO_USAGE } from "./sliding-window.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
const LIMITS = { callsPerMinute: 30, callsPerMonth: 1_000 };

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

  test("D-6.4 calls at one moment are charged as decideCall() decides them one by one", () => {
    const moves = fc.array(
      fc.record({ waitMs: fc.nat(40_000), calls: fc.integer({ min: 1, max: 9 }) }),
    );
    const limits = fc.record({
      callsPerMinute: fc.integer({ min: 1, max: 12 }),
      callsPerMonth: fc.option(fc.integer({ min: 1, max: 60 })),
    });
    checkProperty(
      fc.property(moves, limits, (steps, effective) => {
        let state = NO_USAGE;
        let nowMs = NOW_MS;
        for (const { waitMs, calls } of steps) {
          nowMs += waitMs;
          const minute = state.minute.filter((atMs) => nowMs - atMs < 60_000);
          const reading = {
            minuteCalls: minute.length,
            blockingMs: minute[0] ?? null,
            month: state.month,
          };
          const charge = chargeCalls(reading, { calls, limits: effective, nowMs });
          for (let i = 0; i < calls; i++) {
            const decision = decideCall(state, { limits: effective, nowMs });
            const isAdmitted = i < charge.admitted;
            expect(decision.outcome).toBe(isAdmitted ? "allowed" : (charge.refusal ?? "allowed"));
            const quotas = charge.quotasAfter(isAdmitted ? i + 1 : charge.admitted);
            expect(quotas).toEqual({ minute: decision.minute, month: decision.month });
            state = decision.state;
          }
          const { used } = charge.quotasAfter(charge.admitted).minute;
          expect([used, charge.month]).toEqual([state.minute.length, state.month]);
        }
      }),
    );
  });
});

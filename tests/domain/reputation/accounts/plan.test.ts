import { expect, test } from "bun:test";
import {
  effectiveLimits,
  NEW_ACCOUNT_PLAN,
  PLAN_NAMES,
  requirePlan,
} from "../../../../src/domain/reputation/accounts/plan.ts";

const NONE = { callsPerMonth: null, rateLimitPerMinute: null };

test("R-8 the plans are free, developer, business and enterprise", () => {
  expect(PLAN_NAMES).toEqual(["free", "developer", "business", "enterprise"]);
});

test.each([
  ["free", 1_000, 30],
  ["developer", 10_000, 120],
  ["business", 100_000, 600],
] as const)("R-8 %s has %d calls per month and %d per minute", (plan, month, minute) => {
  expect(effectiveLimits({ plan, ...NONE })).toEqual({
    callsPerMonth: month,
    callsPerMinute: minute,
  });
});

test("R-8, D-5.7, D-5.7.1 enterprise without numbers has an unlimited month and 6,000 per minute", () => {
  expect(effectiveLimits({ plan: "enterprise", ...NONE })).toEqual({
    callsPerMonth: null,
    callsPerMinute: 6_000,
  });
});

test("D-5.7, D-5.7.1 enterprise takes numbers of its own, each alone too", () => {
  expect(
    effectiveLimits({ plan: "enterprise", callsPerMonth: 5, rateLimitPerMinute: 9_000 }),
  ).toEqual({
    callsPerMonth: 5,
    callsPerMinute: 9_000,
  });
  expect(effectiveLimits({ plan: "enterprise", ...NONE, callsPerMonth: 5 })).toEqual({
    callsPerMonth: 5,
    callsPerMinute: 6_000,
  });
});

test("D-5.7 numbers left over from enterprise have no effect on another plan", () => {
  expect(effectiveLimits({ plan: "free", callsPerMonth: 5, rateLimitPerMinute: 9_000 })).toEqual({
    callsPerMonth: 1_000,
    callsPerMinute: 30,
  });
});

test("D-5.4 a new account is on the free plan", () => {
  expect(NEW_ACCOUNT_PLAN).toEqual({ plan: "free", ...NONE });
});

test("D-5.7 an account gets a plan and, on enterprise, numbers of its own", () => {
  expect(requirePlan({ plan: "business" })).toEqual({ plan: "business", ...NONE });
  const numbers = { callsPerMonth: 1, rateLimitPerMinute: 999_999_999_999_999 };
  expect(requirePlan({ plan: "enterprise", ...numbers })).toEqual({
    plan: "enterprise",
    callsPerMonth: 1,
    rateLimitPerMinute: 999_999_999_999_999,
  });
  expect(requirePlan({ plan: "enterprise", ...NONE })).toEqual({ plan: "enterprise", ...NONE });
  expect(requirePlan({ plan: "free", ...NONE })).toEqual({ plan: "free", ...NONE });
});

test("D-5.7 numbers of their own are refused for other plans", () => {
  const detail = "Only the enterprise plan has it";
  expect(() => requirePlan({ plan: "business", callsPerMonth: 5 })).toThrow(
    expect.objectContaining({ problems: [{ pointer: "/calls_per_month", detail }] }),
  );
  expect(() => requirePlan({ plan: "free", callsPerMonth: 5, rateLimitPerMinute: 5 })).toThrow(
    expect.objectContaining({
      problems: [
        { pointer: "/calls_per_month", detail },
        { pointer: "/rate_limit_per_minute", detail },
      ],
    }),
  );
});

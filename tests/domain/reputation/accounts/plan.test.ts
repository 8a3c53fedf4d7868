import { expect, test } from "bun:test";
import {
  checkPlanChange,
  effectiveLimits,
  NEW_ACCOUNT_PLAN,
  PLAN_NAMES,
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

test("D-5.7 checkPlanChange() reads a plan and, for enterprise, its numbers", () => {
  expect(checkPlanChange({ plan: "business" }).value).toEqual({ plan: "business", ...NONE });
  const numbers = { calls_per_month: 1, rate_limit_per_minute: 999_999_999_999_999 };
  expect(checkPlanChange({ plan: "enterprise", ...numbers }).value).toEqual({
    plan: "enterprise",
    callsPerMonth: 1,
    rateLimitPerMinute: 999_999_999_999_999,
  });
  const nulls = { calls_per_month: null, rate_limit_per_minute: null };
  expect(checkPlanChange({ plan: "enterprise", ...nulls }).value).toEqual({
    plan: "enterprise",
    ...NONE,
  });
  expect(checkPlanChange({ plan: "free", ...nulls }).value?.plan).toBe("free");
});

test("D-5.7 checkPlanChange() refuses unknown plans and numbers for other plans", () => {
  const pointers = (body: Parameters<typeof checkPlanChange>[0]) =>
    checkPlanChange(body).problems.map(({ pointer }) => pointer);
  expect(pointers({})).toEqual(["/plan"]);
  expect(pointers({ plan: "Free" })).toEqual(["/plan"]);
  expect(pointers({ plan: "toString" })).toEqual(["/plan"]);
  expect(pointers({ plan: "business", calls_per_month: 5 })).toEqual(["/calls_per_month"]);
  for (const odd of [0, -1, 1.5, "5", true, 1e15, Number.NaN]) {
    expect(pointers({ plan: "enterprise", rate_limit_per_minute: odd })).toEqual([
      "/rate_limit_per_minute",
    ]);
  }
});

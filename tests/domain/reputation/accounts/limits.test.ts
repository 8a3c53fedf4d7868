import { expect, test } from "bun:test";
import * as limits from "../../../../src/domain/shared/limits.ts";

test("R-8, D-5.7 the plans' numbers are the document's", () => {
  expect(limits.PLAN_LIMITS).toEqual({
    free: { callsPerMonth: 1000, callsPerMinute: 30 },
    developer: { callsPerMonth: 10000, callsPerMinute: 120 },
    business: { callsPerMonth: 100000, callsPerMinute: 600 },
    enterprise: { callsPerMonth: null, callsPerMinute: 6000 },
  });
});

test("R-8, D-6.4 a minute is 60 seconds", () => {
  expect(limits.MINUTE_WINDOW_MS).toBe(60_000);
});

test("R-2.1, D-6.6 a score is at most 100, a star level at most 5, and a star is 20 points", () => {
  expect([limits.MAX_SCORE, limits.MAX_STAR_LEVEL, limits.POINTS_PER_STAR]).toEqual([100, 5, 20]);
});

test("D-5.4 a session lasts an hour; 10 failures per account, 30 per address in 15 minutes", () => {
  expect(limits.SESSION_TTL_SECONDS).toBe(3600);
  expect(limits.SIGN_IN_WINDOW_MS).toBe(900_000);
  expect(limits.MAX_ACCOUNT_SIGN_IN_FAILURES).toBe(10);
  expect(limits.MAX_ADDRESS_SIGN_IN_FAILURES).toBe(30);
});

test("D-5.4 a password has 10 to 200 characters, a foreign username at most 200", () => {
  expect(limits.MIN_PASSWORD_CHARS).toBe(10);
  expect(limits.MAX_PASSWORD_CHARS).toBe(200);
  expect(limits.MAX_FOREIGN_USERNAME_CHARS).toBe(200);
});

test("D-5.5 a rotation overlaps for a day at most, a list has 100 items unless 1 to 1000", () => {
  expect(limits.MAX_ROTATION_OVERLAP_SECONDS).toBe(86_400);
  expect(limits.DEFAULT_LIST_ITEMS).toBe(100);
  expect(limits.MAX_LIST_ITEMS).toBe(1000);
});

import { expect, test } from "bun:test";
import { rateLimitHeaders } from "../../../src/http/routes/reputation/lookup-routes.ts";

const MINUTE = { limit: 30, used: 18, remaining: 12, resetSeconds: 31 };
const MONTH = { limit: 1_000, used: 129, remaining: 871, resetSeconds: 913_322 };

test("D-5.3 a metered reply names both policies and where the caller stands", () => {
  expect(rateLimitHeaders({ minute: MINUTE, month: MONTH }, null)).toEqual({
    "RateLimit-Policy": '"minute";q=30;w=60, "month";q=1000',
    RateLimit: '"minute";r=12;t=31, "month";r=871;t=913322',
    "X-RateLimit-Limit": "30",
    "X-RateLimit-Remaining": "12",
    "X-RateLimit-Reset": "31",
  });
});

test("D-5.3 an unlimited month has no policy", () => {
  const month = { limit: null, used: 5, remaining: null, resetSeconds: 913_322 };
  const headers = rateLimitHeaders({ minute: MINUTE, month }, null);
  expect(headers["RateLimit-Policy"]).toBe('"minute";q=30;w=60');
  expect(headers.RateLimit).toBe('"minute";r=12;t=31');
});

test("D-5.3 Retry-After is the reset of the limit that refused, at least 1", () => {
  const minute = { limit: 30, used: 30, remaining: 0, resetSeconds: 7 };
  const month = { ...MONTH, used: 1_000, remaining: 0 };
  const of = (outcome: "rate_limited" | "quota_exceeded") =>
    rateLimitHeaders({ minute, month }, outcome)["Retry-After"];
  expect(of("rate_limited")).toBe("7");
  expect(of("quota_exceeded")).toBe("913322");
  const now = { ...minute, resetSeconds: 0 };
  expect(rateLimitHeaders({ minute: now, month }, "rate_limited")["Retry-After"]).toBe("1");
});

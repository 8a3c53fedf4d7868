import { describe, expect, test } from "bun:test";
import { readConfig } from "../../../../src/app/config.ts";
import { usageBody } from "../../../../src/domain/reputation/accounts/call-meter.ts";
import type { InputProblem } from "../../../../src/domain/shared/errors.ts";
import {
  type ListParameters,
  listPart,
  readListQuery,
  requireListQuery,
} from "../../../../src/domain/shared/list-query.ts";
import { refused } from "../../../support/failures.ts";

const CURSOR = /^\d+$/;
const problemsOf = (query: ListParameters) => {
  const problems: InputProblem[] = [];
  readListQuery(query, CURSOR, problems);
  return problems.map(({ pointer }) => pointer);
};

test("D-5.4, D-1.3.14, D-5.4.7 an identity provider may not have the name of this service's own issuer", () => {
  const env = { JWT_JWKS_URL: "https://id.example.com/keys", JWT_AUDIENCE: "x" };
  const problems = refused(() => readConfig({ ...env, JWT_ISSUER: "repsync" }, () => ""));
  expect(problems).toEqual(["JWT_ISSUER must not be repsync: that is this service itself"]);
  expect(refused(() => readConfig({ ...env, JWT_ISSUER: "other" }, () => ""))).toEqual([]);
});

describe("readListQuery()", () => {
  test("D-5.5 limit is 1 to 1000 and 100 by default", () => {
    expect(requireListQuery({}, CURSOR)).toEqual({ limit: 100, cursor: null });
    expect(requireListQuery({ limit: "", cursor: "" }, CURSOR).limit).toBe(100);
    expect(requireListQuery({ limit: "1000", cursor: "7" }, CURSOR)).toEqual({
      limit: 1_000,
      cursor: "7",
    });
    for (const limit of ["0", "1001", "-1", "1.5", "x", "1e2", " 5", "99999999999999999999"]) {
      expect(problemsOf({ limit })).toEqual(["/limit"]);
    }
    expect(problemsOf({ limit: "0", cursor: "x" })).toEqual(["/limit", "/cursor"]);
  });

  test("D-5.5 listPart() names a next part only when there is one", () => {
    const how = { toItem: (n: number) => n * 10, cursorOf: String };
    expect(listPart([3, 2, 1], 2, how)).toEqual({ items: [30, 20], nextCursor: "2" });
    expect(listPart([3, 2], 2, how)).toEqual({ items: [30, 20], nextCursor: null });
    expect(listPart([], 2, how)).toEqual({ items: [], nextCursor: null });
  });
});

describe("usageBody()", () => {
  test("D-5.5, D-5.5.3 tells when more calls are possible: the month's end exactly, now when nothing is used", () => {
    const nowMs = Date.parse("2026-11-30T23:59:58.250Z");
    const minute = { limit: 30, used: 0, remaining: 30, resetSeconds: 0 };
    const month = { limit: null, used: 7, remaining: null, resetSeconds: 2 };
    expect(usageBody("enterprise", { minute, month }, null, nowMs)).toEqual({
      plan: "enterprise",
      minute: { limit: 30, used: 0, remaining: 30, resetAt: "2026-11-30T23:59:58.250Z" },
      month: { limit: null, used: 7, remaining: null, resetAt: "2026-12-01T00:00:00Z" },
    });
  });

  test("D-5.5, D-5.5.3 the minute ends when the call that blocks is over, whenever it is asked for", () => {
    const madeMs = Date.parse("2026-11-30T12:00:00.923Z");
    const month = { limit: null, used: 1, remaining: null, resetSeconds: 9 };
    for (const passedMs of [0, 370, 740, 59_999]) {
      const minute = { limit: 30, used: 1, remaining: 29, resetSeconds: 60 };
      const body = usageBody("free", { minute, month }, madeMs, madeMs + passedMs);
      expect(body.minute.resetAt).toBe("2026-11-30T12:01:00.923Z");
    }
  });
});

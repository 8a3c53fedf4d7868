import { describe, expect, test } from "bun:test";
import { readConfig } from "../../../../src/config.ts";
import { checkListQuery, listPart } from "../../../../src/domain/reputation/accounts/list-query.ts";
import { checkProfileChanges } from "../../../../src/domain/reputation/accounts/profile-changes.ts";
import { usageBody } from "../../../../src/domain/reputation/accounts/usage.ts";

const CURSOR = /^\d+$/;
const pointersOf = (checked: { readonly problems: readonly { readonly pointer: string }[] }) =>
  checked.problems.map(({ pointer }) => pointer);

test("D-5.4, D-1.3.14, D-5.4.7 an identity provider may not have the name of this service's own issuer", () => {
  const env = { JWT_JWKS_URL: "https://id.example.com/keys", JWT_AUDIENCE: "x" };
  const { problems } = readConfig({ ...env, JWT_ISSUER: "repsync" }, () => "");
  expect(problems).toEqual(["JWT_ISSUER must not be repsync: that is this service itself"]);
  expect(readConfig({ ...env, JWT_ISSUER: "other" }, () => "").problems).toEqual([]);
});

describe("checkListQuery()", () => {
  test("D-5.5 limit is 1 to 1000 and 100 by default", () => {
    expect(checkListQuery({}, CURSOR).value).toEqual({ limit: 100, cursor: null });
    expect(checkListQuery({ limit: "", cursor: "" }, CURSOR).value?.limit).toBe(100);
    expect(checkListQuery({ limit: "1000", cursor: "7" }, CURSOR).value).toEqual({
      limit: 1_000,
      cursor: "7",
    });
    for (const limit of ["0", "1001", "-1", "1.5", "x", "1e2", " 5", "99999999999999999999"]) {
      expect(pointersOf(checkListQuery({ limit }, CURSOR))).toEqual(["/limit"]);
    }
    expect(pointersOf(checkListQuery({ limit: "0", cursor: "x" }, CURSOR))).toEqual([
      "/limit",
      "/cursor",
    ]);
  });

  test("D-5.5 listPart() names a next part only when there is one", () => {
    const how = { toItem: (n: number) => n * 10, cursorOf: String };
    expect(listPart([3, 2, 1], 2, how)).toEqual({ items: [30, 20], nextCursor: "2" });
    expect(listPart([3, 2], 2, how)).toEqual({ items: [30, 20], nextCursor: null });
    expect(listPart([], 2, how)).toEqual({ items: [], nextCursor: null });
  });
});

describe("checkProfileChanges()", () => {
  test("D-5.5, D-5.5.1 takes texts, nulls and public, and nothing of another type", () => {
    const body = { display_name: "Ana", bio: null, public: false };
    expect(checkProfileChanges(body).value).toEqual(body);
    expect(checkProfileChanges({}).value).toEqual({});
    expect(pointersOf(checkProfileChanges({ bio: 1, location: "\ud800", public: "true" }))).toEqual(
      ["/bio", "/location", "/public"],
    );
    expect(pointersOf(checkProfileChanges({ bio: "x".repeat(10_001) }))).toEqual(["/bio"]);
  });
});

describe("usageBody()", () => {
  test("D-5.5, D-5.5.3 tells when more calls are possible: the month's end exactly, now when nothing is used", () => {
    const nowMs = Date.parse("2026-11-30T23:59:58.250Z");
    const minute = { limit: 30, used: 0, remaining: 30, resetSeconds: 0 };
    const month = { limit: null, used: 7, remaining: null, resetSeconds: 2 };
    expect(usageBody("enterprise", { quotas: { minute, month }, blockingMs: null, nowMs })).toEqual(
      {
        plan: "enterprise",
        minute: { limit: 30, used: 0, remaining: 30, reset_at: "2026-11-30T23:59:58.250Z" },
        month: { limit: null, used: 7, remaining: null, reset_at: "2026-12-01T00:00:00Z" },
      },
    );
  });

  test("D-5.5, D-5.5.3 the minute ends when the call that blocks is over, whenever it is asked for", () => {
    const madeMs = Date.parse("2026-11-30T12:00:00.923Z");
    const month = { limit: null, used: 1, remaining: null, resetSeconds: 9 };
    for (const passedMs of [0, 370, 740, 59_999]) {
      const minute = { limit: 30, used: 1, remaining: 29, resetSeconds: 60 };
      const of = { quotas: { minute, month }, blockingMs: madeMs, nowMs: madeMs + passedMs };
      expect(usageBody("free", of).minute.reset_at).toBe("2026-11-30T12:01:00.923Z");
    }
  });
});

import { describe, expect, test } from "bun:test";
import { type JsonValue, parseJson } from "../../../../src/domain/shared/json.ts";
import { pushedResult } from "../../../../src/domain/sync/rows/push-result.ts";
import { convertTombstone } from "../../../../src/domain/sync/rows/tombstone.ts";
import { makeTable } from "../../../support/rows/make-table.ts";

const LIMIT = "2026-03-01T12:05:00Z";
const table = makeTable({
  ...{ timestamp_column: "at", upsert_key: ["n", "name"], deletes: true },
  columns: {
    at: { type: "datetime" },
    name: { type: "text", max_length: 3 },
    n: { type: "bigint" },
  },
});

function convert(member: JsonValue) {
  return convertTombstone(table, member, LIMIT);
}

describe("convertTombstone()", () => {
  test("D-7.6.1 convertTombstone() keeps the key as the table does, and the time as pages show it", () => {
    const member = parseJson(
      '{"key":{"name":"a","n":9007199254740993,"at":1},"deleted_at":"2026-03-01T13:00:00.5000+01:00","more":1}',
    );
    expect(convert(member)).toEqual({
      tombstone: {
        key: { n: "9007199254740993", name: "a" },
        deletedAt: "2026-03-01T12:00:00.500Z",
      },
      problem: null,
    });
  });

  test.each([
    ["2026-03-01T12:05:00Z", null],
    ["2026-03-01T12:05:00.000001Z", "deleted_at is more than 5 minutes ahead of the clock here"],
    ["2026-03-01", null],
    ["2026-02-30", "deleted_at is not an ISO 8601 time"],
    ["", "deleted_at is not an ISO 8601 time"],
    [1772366400000, "deleted_at is not an ISO 8601 time"],
    [null, "deleted_at is not an ISO 8601 time"],
  ])("D-7.6.1 convertTombstone() of the time %j has the problem %p", (time, problem) => {
    expect(convert({ key: { n: 1, name: "a" }, deleted_at: time }).problem).toBe(problem);
  });

  test.each([
    [null, "must be {key, deleted_at}, key an object"],
    ["a", "must be {key, deleted_at}, key an object"],
    [[], "must be {key, deleted_at}, key an object"],
    [{}, "must be {key, deleted_at}, key an object"],
    [{ key: "a" }, "must be {key, deleted_at}, key an object"],
    [{ key: ["1", "a"] }, "must be {key, deleted_at}, key an object"],
    [{ key: { name: "a" } }, "n is part of the key and must not be missing or null"],
    [{ key: { n: 1, name: null } }, "name is part of the key and must not be missing or null"],
    [
      { key: { n: "x", name: "a" } },
      "n must be a whole number within ±(2^63-1), as it is part of the key",
    ],
    [{ key: { n: 1, name: "long" } }, "name must not be longer than 3 characters"],
    [{ key: { n: 1, name: {} } }, "name must not be an object or an array"],
  ])("D-7.6.1 convertTombstone() refuses %j", (member, problem) => {
    const given = typeof member === "object" && member !== null && !Array.isArray(member);
    const whole = given ? { deleted_at: "2026-03-01T12:00:00Z", ...member } : member;
    expect(convert(whole as JsonValue)).toEqual({ tombstone: null, problem });
  });
});

describe("pushedResult()", () => {
  const done = { records: [], failures: [], integrity: "verified" } as const;

  test("D-7.6.1, S-8.5 pushedResult() lists 10 errors of records and deletes together", () => {
    const records = Array.from({ length: 7 }, () => ({ n: 1, name: "r" }));
    const members = Array.from({ length: 7 }, () => ({ key: { n: 1, name: "d" } }));
    const all = (list: readonly unknown[]) => list.map((_, index) => ({ index, message: "m" }));
    const deletes = { members, failures: all(members), removed: 0 };
    const push = { ...done, records, failures: all(records), deletes };
    const { errors, errorCount } = pushedResult(table, push);
    expect(errorCount).toBe(14);
    expect(errors).toEqual([
      ...Array(7).fill("n=1, name=r: m"),
      ...Array(3).fill("n=1, name=d: m"),
    ]);
  });
});

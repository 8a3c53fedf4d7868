import { describe, expect, test } from "bun:test";
import {
  callsByDay,
  lastUses,
  NO_HISTORY,
  withUse,
} from "../../../../src/domain/reputation/accounts/call-history.ts";

const NOON_MS = Date.parse("2026-03-01T12:00:30Z");
const DAY_MS = 86_400_000;

function use(calls: number, denied: number, ...keyIds: string[]) {
  return Array.from({ length: calls }, (_, n) => ({
    keyId: keyIds[n % keyIds.length] ?? "",
    decision: n < denied ? ("denied" as const) : ("allowed" as const),
  }));
}

describe("call history", () => {
  test("D-8.11 calls of a day add up, and days without calls are shown", () => {
    const first = withUse(NO_HISTORY, use(3, 1, "k"), NOON_MS);
    const second = withUse(first, use(2, 0, "k"), NOON_MS + 1_000);
    const third = withUse(second, use(1, 1, "k"), NOON_MS + 2 * DAY_MS);
    expect(third.days).toBe("2026-03-01:5:1,2026-03-03:1:1");
    const days = callsByDay(third, NOON_MS + 2 * DAY_MS);
    expect(days.length).toBe(31);
    expect(days[0]).toEqual({ date: "2026-02-01", calls: 0, denied: 0 });
    expect(days.slice(-3)).toEqual([
      { date: "2026-03-01", calls: 5, denied: 1 },
      { date: "2026-03-02", calls: 0, denied: 0 },
      { date: "2026-03-03", calls: 1, denied: 1 },
    ]);
  });

  test("D-8.11 after 31 days a day is no longer kept, nor is one of a clock that was wrong", () => {
    const first = withUse(NO_HISTORY, use(3, 0, "k"), NOON_MS);
    expect(withUse(first, use(1, 0, "k"), NOON_MS + 30 * DAY_MS).days).toBe(
      "2026-03-01:3:0,2026-03-31:1:0",
    );
    expect(withUse(first, use(1, 0, "k"), NOON_MS + 31 * DAY_MS).days).toBe("2026-04-01:1:0");
    expect(withUse(first, use(1, 0, "k"), NOON_MS - DAY_MS).days).toBe("2026-02-28:1:0");
  });

  test("D-8.11 the last use of a key is told to the minute, and passed on where 100 others were used since", () => {
    const first = withUse(NO_HISTORY, use(2, 0, "a", "b"), NOON_MS);
    const second = withUse(first, use(1, 0, "a"), NOON_MS + 60_000);
    expect(lastUses(second, [])).toEqual(
      new Map([
        ["a", "2026-03-01T12:01:00Z"],
        ["b", "2026-03-01T12:00:00Z"],
      ]),
    );
    expect([first.passed, second.passed]).toEqual([[], []]);
    const many = Array.from({ length: 99 }, (_, n) => `k${n}`);
    const full = withUse(second, use(99, 0, ...many), NOON_MS);
    expect(full.passed).toEqual([{ keyId: "b", minute: 29_539_440 }]);
    expect(lastUses(full, []).size).toBe(100);
    const all = lastUses(full, [...full.passed, { keyId: "a", minute: 1 }]);
    expect([all.get("b"), all.get("a")]).toEqual(["2026-03-01T12:00:00Z", "2026-03-01T12:01:00Z"]);
  });
});

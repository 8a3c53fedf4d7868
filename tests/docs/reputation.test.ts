// docs/reputation.md says what the code knows: plans, codes of errors, and numbers, as the limits of docs/security.md.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NEW_ACCOUNT_PLAN } from "../../src/domain/reputation/accounts/plan.ts";
import * as limits from "../../src/domain/shared/limits.ts";
import { PROBLEM_CODES, PROBLEMS } from "../../src/http/schemas/parts.ts";

const GUIDE = readFileSync(join(import.meta.dir, "../../docs/reputation.md"), "utf8");
const LIMITS = readFileSync(join(import.meta.dir, "../../docs/security.md"), "utf8");
const PROSE = `${GUIDE}${LIMITS}`.replace(/\s+/g, " ");

/** Sentences with numbers, and the numbers that the code has. */
const SENTENCES: readonly (readonly [pattern: RegExp, numbers: readonly number[]])[] = [
  [/from ([\d,]+) to ([\d,]+), how much a person has shown/, [0, limits.MAX_SCORE]],
  [/one more for every ([\d,]+) points/, [limits.POINTS_PER_STAR]],
  [/`star_level` \(1 to ([\d,]+)\)/, [limits.MAX_STAR_LEVEL]],
  [/a minute any ([\d,]+) seconds/, [limits.MINUTE_WINDOW_MS / 1000]],
  [
    /A password has ([\d,]+) to ([\d,]+) characters/,
    [limits.MIN_PASSWORD_CHARS, limits.MAX_PASSWORD_CHARS],
  ],
  [/a token that is good for ([\d,]+) hour/, [limits.SESSION_TTL_SECONDS / 3600]],
  [/more than ([\d,]+) KiB/, [limits.MAX_API_BODY_BYTES / 1024]],
  [/Changes are limited to ([\d,]+) a minute/, [limits.DEFAULT_ACCOUNT_WRITES_PER_MINUTE]],
  [/`overlap_seconds` \(0 to ([\d,]+);/, [limits.MAX_ROTATION_OVERLAP_SECONDS]],
  [
    /sign-ins of an account \| ([\d,]+) in ([\d,]+) minutes/,
    [limits.MAX_ACCOUNT_SIGN_IN_FAILURES, limits.SIGN_IN_WINDOW_MS / 60_000],
  ],
  [/sign-ups of an address \| ([\d,]+) in/, [limits.MAX_ADDRESS_SIGN_IN_FAILURES]],
  [/`ACCOUNT_WRITES_PER_MINUTE` \(([\d,]+)\)/, [limits.DEFAULT_ACCOUNT_WRITES_PER_MINUTE]],
  [
    /API keys of an account \| ([\d,]+) active ones; the ([\d,]+) that ended last/,
    [limits.MAX_ACTIVE_API_KEYS, limits.MAX_KEPT_ENDED],
  ],
  [
    /wait to be checked \| ([\d,]+) in each process, and no more than it can check within ([\d,]+) s/,
    [limits.MAX_WAITING_PASSWORDS, limits.PASSWORD_DEADLINE_MS / 1000],
  ],
  [/body of a request under `\/v1` \| ([\d,]+) KiB/, [limits.MAX_API_BODY_BYTES / 1024]],
  [/`SYNC_MAX_PUSH_RECORDS` \(([\d,]+)\)/, [limits.DEFAULT_MAX_PUSH_RECORDS]],
  [/JSON values of a push \| ([\d,]+)/, [limits.MAX_JSON_VALUES]],
];

describe("docs/reputation.md", () => {
  test("lists every code of an error that the code knows, and no other, with its status", () => {
    const listed = [...GUIDE.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(listed).toEqual(PROBLEM_CODES.map((code) => [code, PROBLEMS[code].status]));
  });

  test("gives the limits of every plan", () => {
    const rows = [...GUIDE.matchAll(/^\| (\w+) \| ([\d,]+|unlimited) \| ([\d,]+) \|$/gm)];
    const listed = rows.map(([, plan, month = "", minute = ""]) => [
      plan,
      { callsPerMonth: month === "unlimited" ? null : numberOf(month) },
      { callsPerMinute: numberOf(minute) },
    ]);
    const known = Object.entries(limits.PLAN_LIMITS).map(
      ([plan, { callsPerMonth, callsPerMinute }]) => [plan, { callsPerMonth }, { callsPerMinute }],
    );
    expect(listed).toEqual(known);
    expect(/Every account begins on the (\w+) plan/.exec(PROSE)?.[1]).toBe(NEW_ACCOUNT_PLAN.plan);
  });

  test.each(SENTENCES)("has the numbers of the code: %s", (pattern, numbers) => {
    expect(pattern.exec(PROSE)?.slice(1).map(numberOf)).toEqual([...numbers]);
  });
});

function numberOf(text: string): number {
  return Number(text.replaceAll(",", ""));
}

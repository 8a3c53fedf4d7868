import { describe, expect, test } from "bun:test";
import type { Environment } from "../../../src/app/config.ts";
import { readConfig } from "../../../src/app/config.ts";
import { refused } from "../../support/failures.ts";

const problemsOf = (env: Environment) =>
  refused(() =>
    readConfig(env, () => {
      throw new Error("No file is read");
    }),
  );
describe("readConfig() of SYNC_SCHEDULE", () => {
  const env = { SYNC_ENABLED: "true", SYNC_API_KEY: "k", SYNC_REMOTE_URL: "http://a" };
  const SYNC_SCHEDULE = "*/5 * * * *";

  const shape = "and needs 5 (minute, hour, day, month, weekday), or 6 with the second before them";
  const these = "*, or a list or range of these";
  test.each([
    ["hello", `has 1 part, ${shape}`],
    ["* * * *", `has 4 parts, ${shape}`],
    ["* * * * * * *", `has 7 parts, ${shape}`],
    ["2030-01-01T00:00:00", `has 1 part, ${shape}`],
    ["61 * * * *", `has the minute "61", which is 0 to 59, ${these}`],
    ["60 0 * * * *", `has the second "60", which is 0 to 59, ${these}`],
    ["0 24 * * 8", `has the hour "24", which is 0 to 23, ${these}`],
    ["0 0 0 * *", `has the day "0", which is 1 to 31, ${these}`],
    ["0 0 1 JANUAR *", `has the month "JANUAR", which is 1 to 12 or JAN to DEC, ${these}`],
    ["0 0 * * 1-8", `has the weekday "1-8", which is 0 to 7 or SUN to SAT, ${these}`],
    ["0 0 31 2 *", "names a time that never comes"],
  ])("D-1.3.10, D-14.9.2 a cron text is told what it lacks: %p %s", (text, problem) => {
    const must = "must be a cron expression, such as";
    expect(problemsOf({ ...env, SYNC_SCHEDULE: text })).toEqual([
      `SYNC_SCHEDULE ${must} */15 * * * *: "${text}" ${problem}`,
    ]);
    expect(problemsOf({ ...env, SYNC_COMPARE_SCHEDULE: text })).toEqual([
      `SYNC_COMPARE_SCHEDULE ${must} */15 * * * *: "${text}" ${problem}`,
    ]);
    expect(problemsOf({ BACKUP_SCHEDULE: text, BACKUP_FOLDER: "b" })).toEqual([
      `BACKUP_SCHEDULE ${must} 0 3 * * *: "${text}" ${problem}`,
    ]);
  });

  test("D-1.3.10 a schedule needs a remote and its key, unless sync is disabled", () => {
    expect(problemsOf({ ...env, SYNC_SCHEDULE })).toEqual([]);
    const needs = "SYNC_SCHEDULE also needs SYNC_REMOTE_URL, and SYNC_REMOTE_KEY or SYNC_API_KEY";
    expect(problemsOf({ ...env, SYNC_SCHEDULE, SYNC_REMOTE_URL: "" })).toEqual([needs]);
    expect(problemsOf({ ...env, SYNC_SCHEDULE, SYNC_API_KEY: "" })).toEqual([needs]);
    expect(problemsOf({ SYNC_SCHEDULE })).toEqual([]);
  });
});

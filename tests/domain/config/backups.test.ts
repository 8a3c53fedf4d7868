// Scheduled backups. D-10.7.
import { expect, test } from "bun:test";
import type { Environment } from "../../../src/app/config.ts";
import { readConfig } from "../../../src/app/config.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

const read = (env: Environment) => readConfig(env, noFile);

test("D-10.7 BACKUP_SCHEDULE, BACKUP_FOLDER and BACKUP_KEEP", () => {
  const env = { BACKUP_SCHEDULE: "0 3 * * *", BACKUP_FOLDER: "./backups/" };
  const plan = { cronText: "0 3 * * *", folder: "./backups", keep: 7 };
  expect(read(env).backups).toEqual(plan);
  expect(read({ ...env, BACKUP_KEEP: "1" }).backups).toEqual({ ...plan, keep: 1 });
  expect(read({ ...env, BACKUP_FOLDER: "/" }).backups?.folder).toBe("/");
  // A folder alone does nothing.
  expect(read({ BACKUP_FOLDER: "x" }).backups).toBeNull();
});

test.each([
  [{ BACKUP_SCHEDULE: "0 3 * * *" }, "BACKUP_SCHEDULE also needs BACKUP_FOLDER"],
  [
    { BACKUP_SCHEDULE: "0 3 * * *", BACKUP_FOLDER: "x", STORAGE_URL: "sqlite::memory:" },
    "BACKUP_SCHEDULE needs a store that is kept: STORAGE_URL is in memory",
  ],
  [{ BACKUP_KEEP: "0" }, 'BACKUP_KEEP must be a whole number from 1 to 10000: "0"'],
])("D-10.7 %j is a problem", (env, problem) => {
  expect(refused(() => read(env))).toEqual([problem]);
});

test("D-10.7 a schedule that is none is a problem", () => {
  const problems = refused(() => read({ BACKUP_SCHEDULE: "nightly", BACKUP_FOLDER: "x" }));
  expect(problems[0]).toStartWith("BACKUP_SCHEDULE must be a cron expression");
});

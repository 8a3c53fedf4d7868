import { expect, test } from "bun:test";
import { readConfig } from "../../../src/app/config.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

test.each(["1", "100000"])("D-8.5.1 ACCOUNT_WRITES_PER_MINUTE may be %s", (value) => {
  const config = readConfig({ ACCOUNT_WRITES_PER_MINUTE: value }, noFile);
  expect(config.accountWritesPerMinute).toBe(Number(value));
});

test.each(["0", "100001", "1.5"])("D-8.5.1 ACCOUNT_WRITES_PER_MINUTE may not be %s", (value) => {
  const read = () => readConfig({ ACCOUNT_WRITES_PER_MINUTE: value }, noFile);
  expect(refused(read)).toEqual([
    `ACCOUNT_WRITES_PER_MINUTE must be a whole number from 1 to 100000: "${value}"`,
  ]);
});

test("D-8.7 API_KEY_PEPPER has at least 32 bytes", () => {
  expect(refused(() => readConfig({ API_KEY_PEPPER: "p".repeat(31) }, noFile))).toEqual([
    "API_KEY_PEPPER must be at least 32 bytes long",
  ]);
  expect(readConfig({ API_KEY_PEPPER: "é".repeat(16) }, noFile).apiKeyPepper).toBe("é".repeat(16));
});

// Where alerts go. D-10.12.
import { expect, test } from "bun:test";
import { readConfig } from "../../../src/app/config.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

const URL_AND_SECRET = { WEBHOOK_URL: "https://hooks.example/a?b=c", WEBHOOK_SECRET: "s3cret" };

test("D-10.12 alerts go nowhere by default, and a secret alone is no problem", () => {
  expect(readConfig({}, noFile).webhook).toBeNull();
  expect(readConfig({ WEBHOOK_SECRET: "s3cret" }, noFile).webhook).toBeNull();
});

test("D-10.12 alerts go to WEBHOOK_URL, signed by WEBHOOK_SECRET, to private addresses where that is allowed", () => {
  const webhook = { url: "https://hooks.example/a?b=c", secret: "s3cret", allowsPrivate: false };
  expect(readConfig(URL_AND_SECRET, noFile).webhook).toEqual(webhook);
  const allowed = readConfig({ ...URL_AND_SECRET, WEBHOOK_ALLOW_PRIVATE: "true" }, noFile);
  expect(allowed.webhook).toEqual({ ...webhook, allowsPrivate: true });
});

test("D-10.12, D-10.6 the secret may stand in a file", () => {
  const env = { WEBHOOK_URL: "http://hooks.example", WEBHOOK_SECRET_FILE: "/run/secret" };
  expect(readConfig(env, () => "of the file\n").webhook?.secret).toBe("of the file");
});

test.each<[env: Readonly<Record<string, string>>, problem: string]>([
  [{ WEBHOOK_URL: "https://hooks.example" }, "WEBHOOK_URL also needs WEBHOOK_SECRET"],
  [
    { WEBHOOK_URL: "https://hooks.example", WEBHOOK_SECRET: "" },
    "WEBHOOK_URL also needs WEBHOOK_SECRET",
  ],
  [
    { ...URL_AND_SECRET, WEBHOOK_URL: "ftp://hooks.example/hunter2" },
    "WEBHOOK_URL must be an address starting with http:// or https://",
  ],
  [
    { ...URL_AND_SECRET, WEBHOOK_URL: "hooks.example/hunter2" },
    "WEBHOOK_URL must be an address starting with http:// or https://",
  ],
  [
    { ...URL_AND_SECRET, WEBHOOK_URL: "https://root:hunter2@hooks.example" },
    "WEBHOOK_URL must not contain credentials: WEBHOOK_SECRET signs instead",
  ],
  [
    { ...URL_AND_SECRET, WEBHOOK_URL: "https://hunter2@hooks.example" },
    "WEBHOOK_URL must not contain credentials: WEBHOOK_SECRET signs instead",
  ],
  [
    { ...URL_AND_SECRET, WEBHOOK_SECRET_FILE: "/run/secret" },
    "WEBHOOK_SECRET and WEBHOOK_SECRET_FILE must not both be set",
  ],
  [
    { ...URL_AND_SECRET, WEBHOOK_ALLOW_PRIVATE: "maybe" },
    'WEBHOOK_ALLOW_PRIVATE must be one of true, 1, yes, on, false, 0, no, off: "maybe"',
  ],
])("D-10.12 with %j the service does not start", (env, problem) => {
  expect(refused(() => readConfig(env, noFile))).toEqual([problem]);
});

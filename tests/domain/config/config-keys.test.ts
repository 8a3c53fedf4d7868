// Keys and addresses that no request could be made with, and that no problem shows. D-1.3.
import { expect, test } from "bun:test";
import type { Environment } from "../../../src/app/config.ts";
import { readConfig } from "../../../src/app/config.ts";
import { refused } from "../../support/failures.ts";

test.each<[env: Environment, problem: string]>([
  [
    { SYNC_API_KEY: "a\nkey" },
    "SYNC_API_KEY must not contain control characters: HTTP cannot send them",
  ],
  [{ SYNC_REMOTE_KEY: "schön" }, "SYNC_REMOTE_KEY must be printable ASCII"],
  [{ SYNC_REMOTE_KEY: "a\tkey" }, "SYNC_REMOTE_KEY must be printable ASCII"],
  [
    { SYNC_REMOTE_URL: "http://remote.example", SYNC_API_KEY: "schön" },
    "SYNC_API_KEY, which runs send because SYNC_REMOTE_KEY is not set, must be printable ASCII",
  ],
  [
    { SYNC_REMOTE_URL: "https://remote.example/api/v1/sync//" },
    "SYNC_REMOTE_URL must be the base address without /api/v1/sync",
  ],
])("D-1.3 with %j the service does not start", (env, problem) => {
  expect(refused(() => readConfig(env, () => ""))).toEqual([problem]);
});

test("D-1.3 a key that only others send may be any text that a header can hold", () => {
  const env = { SYNC_API_KEY: "schön\tund gut" };
  expect(readConfig(env, () => "").syncApiKey).toBe("schön\tund gut");
});

test("D-1.3 no problem shows a secret, nor an address that may hold one", () => {
  const secret = "hunter2-hunter2";
  const problems = refused(() =>
    readConfig(
      {
        PORT: "x",
        STORAGE_URL: `mongodb://root:${secret}@db`,
        SYNC_API_KEY: secret,
        SYNC_REMOTE_KEY: secret,
        SYNC_REMOTE_URL: `ftp://root:${secret}@remote`,
        SYNC_SECRET: secret,
        METRICS_TOKEN: secret,
        ADMIN_PASSWORD: secret,
        JWT_SECRET: secret,
        JWT_JWKS_URL: `ldap://root:${secret}@id`,
        API_KEY_PEPPER: secret,
      },
      () => "",
    ),
  );
  expect(problems).toHaveLength(9);
  expect(problems.join("\n")).not.toContain("hunter2");
});

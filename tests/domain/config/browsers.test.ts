// Settings about browsers and proxies. D-1.3.18, D-8.6.
import { expect, test } from "bun:test";
import { readConfig } from "../../../src/app/config.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

const read = (env: Readonly<Record<string, string>>) => readConfig(env, noFile);

test("D-8.6 CORS_ORIGINS are taken as browsers write them", () => {
  const text = " https://App.example:443/, http://127.0.0.1:8080,,http://[::1]:80";
  expect(read({ CORS_ORIGINS: text }).corsOrigins).toEqual([
    "https://app.example",
    "http://127.0.0.1:8080",
    "http://[::1]",
  ]);
});

test.each([
  "*",
  "null",
  "app.example",
  "https://app.example/path",
  "ftp://app.example",
  "https://a@b.c",
  "https://a b",
])("D-8.6 CORS_ORIGINS may not be %s", (origin) => {
  const message = "CORS_ORIGINS must be origins such as https://app.example, with commas between";
  expect(refused(() => read({ CORS_ORIGINS: `http://a.b,${origin}` }))).toEqual([
    `${message}: "${origin}"`,
  ]);
});

test("D-8.6 SESSION_COOKIE may have any plain name", () => {
  expect(read({ SESSION_COOKIE: "console_2-a" }).sessionCookie).toBe("console_2-a");
});

test.each(["a b", "a=b", "__Host-a", "__secure-a", "x".repeat(65), "é"])(
  "D-8.6 SESSION_COOKIE may not be %s",
  (name) => {
    expect(refused(() => read({ SESSION_COOKIE: name }))).toEqual([
      `SESSION_COOKIE must have 1 to 64 letters, digits, - and _, without __Host- before it: "${name}"`,
    ]);
  },
);

test("D-1.3.18 TRUSTED_PROXY_HOPS may not be more than 100", () => {
  expect(refused(() => read({ TRUSTED_PROXY_HOPS: "101" }))).toEqual([
    'TRUSTED_PROXY_HOPS must be a whole number from 0 to 100: "101"',
  ]);
});

test("D-1.3.22, D-9.1 the console is served unless CONSOLE_ENABLED says no", () => {
  expect(read({}).isConsoleEnabled).toBe(true);
  expect(read({ CONSOLE_ENABLED: "false" }).isConsoleEnabled).toBe(false);
});

import { expect, test } from "bun:test";
import { requestLogLevel } from "../../src/http/answering.ts";

test("D-5.3, D-5.3.1 requestLogLevel() keeps allowed lookups, and nothing else, out of the ordinary log", () => {
  const profile = "/v1/public/profiles/:username";
  const levelOf = (route: string | null, status: number) =>
    requestLogLevel({ route, status, method: "GET" });
  for (const route of [profile, `${profile}/reputation`, `${profile}/platforms`]) {
    expect(levelOf(route, 200)).toBe("debug");
    for (const status of [401, 403, 404, 429, 500, 503])
      expect(levelOf(route, status)).toBe("info");
  }
  expect(levelOf("/api/v1/sync/pull/:table_name", 200)).toBe("info");
  expect(levelOf("/v1/me", 200)).toBe("info");
  expect(levelOf(null, 404)).toBe("info");
});

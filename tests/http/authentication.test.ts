import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { authenticationContract } from "./support/authentication-contract.ts";
import { releaseResources } from "./support/resources.ts";
import { startApp } from "./support/sync-app.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

authenticationContract({
  name: "pull",
  method: "GET",
  path: "/api/v1/sync/pull/notes",
  unknownPath: "/api/v1/sync/pull/no_such_table",
});

authenticationContract({
  name: "push",
  method: "POST",
  path: "/api/v1/sync/push/notes",
  unknownPath: "/api/v1/sync/push/no_such_table",
});

describe("authentication", () => {
  test("S-5 status() takes no key, and a wrong one does no harm", async () => {
    const { send } = await startApp();
    expect((await send("/api/v1/sync/status")).status).toBe(200);
    const headers = { "X-Sync-Key": "wrong" };
    expect((await send("/api/v1/sync/status", { headers })).status).toBe(200);
  });

  test("S-9 nothing is served without the version in the path", async () => {
    const { send } = await startApp();
    for (const path of ["/api/sync/status", "/api/v2/sync/status", "/sync/status", "/status"]) {
      expect((await send(path)).status).toBe(404);
    }
  });
});

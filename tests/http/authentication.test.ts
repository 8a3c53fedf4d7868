import { describe, expect, test } from "bun:test";
import { authenticationContract } from "./support/authentication-contract.ts";
import { openApiDocument } from "./support/check-reply.ts";
import { startApp } from "./support/sync-app.ts";
import { SYNC_KEY_ROUTES, SYNC_ROUTES } from "./support/sync-routes.ts";

/** Of the document's security schemes. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  "": "none",
  syncKey: "sync_key",
  bearer: "administrator",
};

for (const { method, template, path } of SYNC_KEY_ROUTES) {
  const unknownPath = template.replace("{table_name}", "no_such_table");
  authenticationContract({ name: `${method} ${template}`, method, path, unknownPath });
}

test("S-5 the shared suites call every operation under /api/v1/sync of the OpenAPI document", async () => {
  const { paths } = await openApiDocument((await startApp()).url);
  const documented = Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/v1/sync"))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, { security = [] }]) => {
        const [first = {}] = security;
        return `${method.toUpperCase()} ${path} ${CREDENTIALS[Object.keys(first)[0] ?? ""]}`;
      }),
    );
  const called = SYNC_ROUTES.map(
    ({ method, template, credential }) => `${method} ${template} ${credential}`,
  );
  expect(called.sort()).toEqual(documented.sort());
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

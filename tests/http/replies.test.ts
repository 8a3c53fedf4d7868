// What all replies share: ids, methods, unknown paths, the two shapes of errors.
import { describe, expect, test } from "bun:test";
import { bodyText } from "./support/raw-http.ts";
import { requestText, SYNC_KEY, type SyncApp, startApp } from "./support/sync-app.ts";

const PULL = "/api/v1/sync/pull/notes";
const PUSH = "/api/v1/sync/push/notes";
const STATUS = "/api/v1/sync/status";
const HEALTH = "/v1/health";

/** One reply of every kind. */
async function oneOfEach(app: SyncApp, headers: Record<string, string>) {
  return [
    await app.send(STATUS, { headers }),
    await app.send(HEALTH, { headers }),
    await app.send(PULL, { headers }),
    await app.send(PUSH, { headers, method: "POST" }),
    await app.send("/api/v1/sync/nothing", { headers }),
    await app.send("/v1/nothing", { headers }),
    await app.send("/nowhere", { headers }),
    await app.send(STATUS, { headers, method: "DELETE" }),
    await app.send(STATUS, { headers, method: "HEAD" }),
    await app.send("/swagger", { headers }),
    await app.send("/swagger/json", { headers }),
    await app.send("/swagger/swagger-ui.css", { headers }),
    await app.push("notes", "{}", headers),
    await app.push("notes", "[]", headers),
    await app.pushGzip("notes", "no JSON", headers),
  ];
}

describe("X-Request-Id", () => {
  test("D-5.3 every reply has an id of its own", async () => {
    const replies = await oneOfEach(await startApp(), {});
    const ids = replies.map(({ headers }) => headers.get("x-request-id") ?? "");
    for (const id of ids) expect(id).toMatch(/^[\w-]{8,64}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("D-5.3 a caller's id is kept in every reply", async () => {
    const app = await startApp();
    for (const id of ["abcdefgh", "A_b-4567", "0".repeat(64)]) {
      for (const { headers } of await oneOfEach(app, { "X-Request-Id": id })) {
        expect(headers.get("x-request-id")).toBe(id);
      }
    }
  });

  test.each([
    "",
    "short67",
    "x".repeat(65),
    "with blank1",
    "dotted.id.1",
    "id,12345678",
    "naïve-id-1",
  ])("D-5.3 an id that does not fit is replaced: %p", async (id) => {
    const { send } = await startApp();
    const headers = { "X-Request-Id": id };
    const given = (await send(STATUS, { headers })).headers.get("x-request-id");
    expect(given).not.toBe(id);
    expect(given).toMatch(/^[\w-]{8,64}$/);
  });

  test("D-5.3 two ids in one request are replaced", async () => {
    const app = await startApp();
    const lines = ["X-Request-Id: abcdefgh", "X-Request-Id: abcdefgh"];
    const reply = await app.raw(requestText(`GET ${STATUS}`, lines));
    expect(reply.headers.get("x-request-id")).not.toContain("abcdefgh");
  });
});

test("D-5.3 no cache keeps a reply under /api/v1/sync, which it would give to callers without the key", async () => {
  const app = await startApp();
  await app.push("notes", { records: [{ name: "a" }] });
  const asked = [
    await app.send(PULL, { headers: { "X-Sync-Key": SYNC_KEY } }),
    await app.send(PULL),
    await app.send(STATUS),
    await app.send("/api/v1/sync/nothing"),
  ];
  expect(asked.map(({ status, headers }) => [status, headers.get("cache-control")])).toEqual(
    [200, 401, 200, 404].map((status) => [status, "private, no-store"]),
  );
});

describe("methods", () => {
  test.each([
    [PULL, "GET, HEAD"],
    [STATUS, "GET, HEAD"],
    [PUSH, "POST"],
    [HEALTH, "GET, HEAD"],
  ])("D-3.11 %s answers 405 with Allow %p to other methods", async (path, allowed) => {
    const app = await startApp();
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "QUERY"];
    methods.push("PROPFIND", "SEARCH", "PURGE", "MKCOL");
    for (const method of methods.filter((name) => !allowed.split(", ").includes(name))) {
      const reply = await app.raw(requestText(`${method} ${path}`, ["Content-Length: 0"]));
      expect([method, reply.status, reply.headers.get("allow")]).toEqual([method, 405, allowed]);
      if (method === "HEAD") continue;
      const body = JSON.parse(bodyText(reply)) as Record<string, unknown>;
      if (path === HEALTH) expect(body["code"]).toBe("method_not_allowed");
      else expect(body).toEqual({ error: `Method ${method} is not allowed here; use ${allowed}` });
    }
  });

  test("D-3.11 a wrong method is refused before its body is sent", async () => {
    const app = await startApp();
    const reply = await app.raw(requestText(`PUT ${PUSH}`, ["Content-Length: 1000000"]));
    expect(reply.status).toBe(405);
  });

  test("D-3.11 HEAD works wherever GET does", async () => {
    const { send } = await startApp();
    for (const path of [STATUS, HEALTH, "/swagger", "/swagger/json"]) {
      const head = await send(path, { method: "HEAD" });
      const get = await send(path);
      expect([path, head.status, head.wire.length]).toEqual([path, 200, 0]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      expect(head.headers.has("date")).toBeTrue();
    }
    expect((await send("/nothing", { method: "HEAD" })).status).toBe(404);
    expect((await send(PULL, { method: "HEAD" })).status).toBe(401);
  });
});

describe("unknown paths", () => {
  test.each([
    "/api",
    "/api/v1/sync",
    "/api/v1/sync/",
    "/api/v1/sync/pull",
    "/api/v1/sync/pull/",
    "/api/v1/sync/pull/notes/more",
    "/api/v1/sync/push//",
    "//api/v1/sync/status",
    "/api/v1/SYNC/status",
    "/api/v1/sync/%73tatus",
    "/api/v1/sync/status%2F",
    "/api/v1/sync/statuses",
    "/v1x/health",
    "/%",
    "/\\",
  ])("D-3.11, S-4 %s answers 404 {error}", async (path) => {
    const app = await startApp();
    const reply = await app.raw(requestText(`GET ${path}`));
    expect(reply.status).toBe(404);
    expect(Object.keys(JSON.parse(bodyText(reply)))).toEqual(["error"]);
  });

  test.each([
    ["/api/v1/sync/../sync/status", 200],
    ["/api/v1/sync/pull/%2e%2E/./status", 200],
    ["/api/v1/sync/pull\\..\\status", 200],
    ["/api/v1/sync/pull/..%2Fstatus", 401],
    ["/api/v1/sync/status/.", 404],
  ])("D-3.11.1 %s is resolved before it is looked for: %d", async (path, status) => {
    const app = await startApp();
    expect((await app.raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).status).toBe(status);
  });

  test.each(["/v1", "/v1/", "/v1/nothing", "/v1/health/more", "/v1/%zz"])(
    "D-3.11, D-5.2, D-5.3 %s answers 404 as a problem",
    async (path) => {
      const { send } = await startApp();
      const reply = await send(path, { headers: { "X-Request-Id": "my-request-1" } });
      expect(reply.status).toBe(404);
      expect(reply.headers.get("content-type")).toBe("application/problem+json");
      expect(reply.headers.get("cache-control")).toBe("private, no-store");
      const { meta, ...rest } = reply.json;
      expect(rest).toEqual({
        success: false,
        type: expect.any(String),
        title: "Not found",
        status: 404,
        detail: `Nothing is served at ${path}`.replace("%zz", "%25zz"),
        code: "not_found",
        request_id: "my-request-1",
      });
      expect(meta).toEqual({ timestamp: expect.any(String), version: "v1" });
    },
  );

  test("D-3.11 a long unknown path is not repeated whole", async () => {
    const { send } = await startApp();
    const { text } = await send(`/${"x".repeat(9000)}`);
    expect(text.length).toBeLessThan(300);
  });
});

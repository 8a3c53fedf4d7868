// What all replies under /v1 share: envelope, headers, methods. D-5.1 to D-5.3, D-3.11.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { releaseResources } from "../../support/resources.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import { type Reply, type SyncApp, startApp } from "../support/sync-app.ts";
import { jsonBody, Person } from "./people.ts";
import { onReputationBackends, startReputation } from "./reputation-backends.ts";
import { nameOf, ROUTES, type RouteUnderTest, USER_ROUTES } from "./routes.ts";

const METHODS = [
  ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "PROPFIND"],
];
const TEMPLATES = [...new Set(ROUTES.map(({ template }) => template))];
const PROBLEM_FIELDS = [
  ...["success", "type", "title", "status", "detail", "hint", "code", "request_id", "errors"],
  "meta",
];
const TIME = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

onReputationBackends("replies", (backend) => {
  let app: SyncApp;
  let root: Person;
  let ana: Person;
  let key: string;

  beforeAll(async () => {
    app = await startReputation(backend);
    root = await Person.signIn(app, "root");
    ana = await Person.signUp(app, "ana");
    await ana.consent();
    key = await ana.issueKey();
  });
  afterAll(releaseResources);

  /** A request that is good in everything; what ends an account or a session ends one of its own. */
  async function sendGood(route: RouteUnderTest, headers: Record<string, string> = {}) {
    const who = route.credential === "administrator" ? root : ana;
    const isEnd = route.method === "DELETE" && !route.path.startsWith("/v1/me/");
    const { token } = isEnd ? await Person.signUp(app, `x${n++}`) : who;
    const options = route.body === undefined ? {} : jsonBody(route.body, route.method);
    const credential: Record<string, string> =
      route.credential === "api_key" ? { "X-API-Key": key } : { Authorization: `Bearer ${token}` };
    const all = { ...options.headers, ...credential, ...headers };
    return await app.send(route.path, { method: route.method, ...options, headers: all });
  }
  let n = 0;

  function expectShape(reply: Reply, route: string) {
    if (reply.status < 300) {
      expect([route, Object.keys(reply.json)]).toEqual([route, ["success", "data", "meta"]]);
      expect(reply.json["success"]).toBe(true);
      expect(reply.headers.get("content-type")).toBe("application/json");
    } else {
      const given = PROBLEM_FIELDS.filter((name) =>
        name === "hint" ? name in reply.json : name !== "errors" || reply.status === 400,
      );
      expect([route, Object.keys(reply.json)]).toEqual([route, given]);
      expect(reply.json["success"]).toBe(false);
      expect(reply.json["status"]).toBe(reply.status);
      expect(reply.json["request_id"]).toBe(reply.headers.get("x-request-id"));
      expect(reply.headers.get("content-type")).toBe("application/problem+json");
    }
    const meta = reply.json["meta"] as Record<string, unknown>;
    expect(meta).toEqual({ timestamp: expect.stringMatching(TIME), version: "v1" });
    expect(reply.headers.get("cache-control")).toBe("private, no-store");
  }

  test("D-5.1, D-5.2, R-2.6, R-7, R-9 every reply but health's has the envelope, good or not", async () => {
    for (const route of ROUTES.filter(({ path }) => !path.startsWith("/v1/health"))) {
      const reply = await sendGood(route);
      if (route.isStream) expect(reply.headers.get("content-type")).toBe("text/event-stream");
      else expectShape(reply, nameOf(route));
      const { method, path } = route;
      expectShape(await app.send(path, { method }), `${nameOf(route)} without anything`);
    }
    for (const path of ["/v1", "/v1/", "/v1/nothing", "/v1/public/profiles//reputation"]) {
      expectShape(await app.send(path), path);
    }
  });

  test("D-5.3 a caller's X-Request-Id is kept where it fits, on every operation", async () => {
    const idFor = async (route: RouteUnderTest, given: string) =>
      (await sendGood(route, { "X-Request-Id": given })).headers.get("x-request-id");
    for (const route of ROUTES) expect(await idFor(route, "a_b-C-12")).toBe("a_b-C-12");
    const [route] = USER_ROUTES.filter(({ path }) => path === "/v1/me/usage");
    if (route === undefined) throw new Error("There is no such operation");
    for (const given of ["12345678", "a_b-C".repeat(12), "x".repeat(64)]) {
      expect(await idFor(route, given)).toBe(given);
    }
    const others = ["1234567", "x".repeat(65), "with blank", "dots.dots.dots", "ümläut-id"];
    for (const given of others) expect(await idFor(route, given)).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each(TEMPLATES)(
    "D-3.11, D-5.2 %s answers other methods than its own with 405 and Allow",
    async (template) => {
      const routes = ROUTES.filter((one) => one.template === template);
      const allowed = routes.flatMap(({ method }) =>
        method === "GET" ? ["GET", "HEAD"] : [method],
      );
      const [{ path } = { path: "" }] = routes;
      // `fetch` does not send all of them as they are.
      for (const method of METHODS.filter((one) => !allowed.includes(one))) {
        const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
        const { status, headers, body } = await app.raw(request);
        expect([method, status]).toEqual([method, 405]);
        expect((headers.get("allow") ?? "").split(", ").sort()).toEqual(allowed.sort());
        if (method === "HEAD") continue;
        expect(JSON.parse(new TextDecoder().decode(body))["code"]).toBe("method_not_allowed");
      }
    },
  );

  test.each(ROUTES.filter(({ method }) => method === "GET"))(
    "D-3.11 HEAD $template answers as GET does, without a body",
    async (route) => {
      key = await (await Person.signUp(app, `h${n++}`)).issueKey();
      const same = { "X-Request-Id": "the-same-for-both" };
      const get = await sendGood(route, same);
      const head = await sendGood({ ...route, method: "HEAD" as "GET" }, same);
      expect([head.status, head.text]).toEqual([get.status, ""]);
      const namesOf = ({ headers }: Reply) => [...headers.keys()].sort();
      expect(namesOf(head)).toEqual(namesOf(get));
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    },
  );

  test("R-5, R-2.5, D-5.3 health needs no credential, minds none, and may be cached", async () => {
    for (const headers of [{}, { "X-API-Key": "wrong" }, { Authorization: "Bearer wrong" }]) {
      const reply = await app.send("/v1/health", { headers: headers as Record<string, string> });
      expect(reply.status).toBe(200);
      expect(Object.keys(reply.json)).toEqual(["success", "status", "db", "php", "timestamp"]);
      expect(reply.json).toMatchObject({ success: true, status: "ok", db: "ok" });
      expect(reply.headers.get("cache-control")).toBeNull();
    }
  });
});

test("D-6.8, D-5.2 with the database gone health is 503 within a second, and all else under /v1 503 at once", async () => {
  const file = join(makeTempFolder(), "repsync.db");
  const app = await startApp({ env: { STORAGE_URL: `sqlite:${file}` } });
  const ana = await Person.signUp(app, "ana");
  const key = await ana.issueKey();
  rmSync(file);
  const startedAtMs = performance.now();
  const health = await app.send("/v1/health");
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  expect(health.status).toBe(503);
  expect(health.json).toMatchObject({ success: false, status: "degraded", db: "unavailable" });
  for (const reply of [
    await app.send("/v1/public/profiles/ana", { headers: { "X-API-Key": key } }),
    await ana.post("/v1/me/consents", { purpose: "profile_lookup" }),
    await ana.send("/v1/sessions/current", { method: "DELETE" }),
  ]) {
    expect([reply.status, reply.json["code"]]).toEqual([503, "unavailable"]);
    expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(reply.headers.has("ratelimit")).toBe(false);
  }
  await releaseResources();
});

// What pages in a browser can do with a session cookie, and what they may read. D-8.6.
import { describe, expect, test } from "bun:test";
import { requestText, type SyncApp, startApp } from "../../support/sync-app.ts";
import { ADMINISTRATOR_ROUTES } from "../../support/sync-routes.ts";
import { ADMIN_ENV, dataOf, jsonBody, PASSWORD, Person } from "../people.ts";
import { ROUTES } from "../routes.ts";

type HeaderFields = Readonly<Record<string, string>>;

const UNSAFE = [
  ...ROUTES.filter(
    ({ method, credential }) =>
      method !== "GET" && (credential === "user" || credential === "administrator"),
  ),
  ...ADMINISTRATOR_ROUTES.filter(({ method }) => method !== "GET"),
];

async function signedIn(env: HeaderFields = {}) {
  const app = await startApp({ env: { ...ADMIN_ENV, ...env } });
  const { token } = await Person.signIn(app, "root");
  return { app, token, cookie: { Cookie: `repsync_session=${token}` } };
}

/** The headers of pages, by what they are; hosts are compared with those of the request. */
function foreignPages(app: SyncApp): readonly HeaderFields[] {
  const { port } = new URL(app.url);
  return [
    {},
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site", Origin: app.url },
    { "Sec-Fetch-Site": "unheard-of" },
    { Origin: "null" },
    { Origin: "https://evil.example" },
    { Origin: `http://127.0.0.1:${Number(port) + 1}` },
    { Origin: `http://localhost:${port}` },
    { Origin: "http://127.0.0.1" },
    { Origin: `${app.url}.evil.example` },
    { Origin: "not an origin" },
    { Referer: app.url },
  ];
}

function ownPages(app: SyncApp): readonly HeaderFields[] {
  return [
    { "Sec-Fetch-Site": "same-origin" },
    { "Sec-Fetch-Site": "none" },
    { Origin: app.url },
    { Origin: app.url.toUpperCase() },
    { Origin: app.url, Host: new URL(app.url).host.toUpperCase() },
  ];
}

describe("the session cookie", () => {
  test.each(UNSAFE.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "D-8.6 %s is forbidden to pages of other origins",
    async (_, { method, path, body }) => {
      const { app, cookie } = await signedIn();
      const good = body === undefined ? { method } : jsonBody(body, method);
      for (const page of foreignPages(app)) {
        const headers = { ...good.headers, ...cookie, ...page };
        const reply = await app.send(path, { ...good, headers });
        expect([page, reply.status]).toEqual([page, 403]);
        const isSync = path.startsWith("/api/");
        if (isSync) expect(Object.keys(reply.json)).toEqual(["error"]);
        else expect(reply.json["code"]).toBe("forbidden");
      }
      if (body === undefined) return;
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/jsonx",
      ]) {
        const headers = { ...cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": type };
        const reply = await app.send(path, { ...good, headers });
        expect([type, reply.status]).toEqual([type, 400]);
      }
    },
  );

  test("D-8.6 pages of this service may change what they like, and a token in a header needs no page", async () => {
    const { app, token, cookie } = await signedIn({ ACCOUNT_WRITES_PER_MINUTE: "1000" });
    const make = (headers: HeaderFields, type = "application/json") => {
      const good = jsonBody({ name: "k" });
      return app.send("/v1/me/api-keys", {
        ...good,
        headers: { "Content-Type": type, ...headers },
      });
    };
    for (const page of ownPages(app)) {
      expect([page, (await make({ ...cookie, ...page })).status]).toEqual([page, 201]);
    }
    const own = { ...cookie, "Sec-Fetch-Site": "same-origin" };
    expect((await make(own, "Application/JSON ; charset=utf-8")).status).toBe(201);
    for (const page of foreignPages(app)) {
      const headers = { ...cookie, ...page, Authorization: `Bearer ${token}` };
      expect([page, (await make(headers, "text/plain")).status]).toEqual([page, 201]);
    }
    const read = await app.send("/v1/me", {
      headers: { ...cookie, "Sec-Fetch-Site": "cross-site" },
    });
    expect(read.status).toBe(200);
  });

  test("D-11.8.2 two different values of the session cookie are none", async () => {
    const { app, token } = await signedIn();
    const other = (await Person.signUp(app, "mallory")).token;
    const statusFor = async (Cookie: string) =>
      (await app.send("/v1/me", { headers: { Cookie } })).status;
    const own = `repsync_session=${token}`;
    expect(await statusFor(`repsync_session=${other}; ${own}`)).toBe(401);
    expect(await statusFor(`${own};repsync_session=${other}`)).toBe(401);
    expect(await statusFor(`${own}; repsync_session=`)).toBe(401);
    expect(await statusFor(`${own}; ${own}`)).toBe(200);
    expect(await statusFor(`${own}; repsync_sessions=${other}; x=1`)).toBe(200);
    const twice = [`Cookie: repsync_session=${other}`, `Cookie: ${own}`];
    expect((await app.raw(requestText("GET /v1/me", twice))).status).toBe(401);
  });

  test("D-8.6 behind a trusted proxy with TLS only the cookie with __Host- is set and taken", async () => {
    const env = { TRUSTED_PROXY_HOPS: "1", SESSION_COOKIE: "mine" };
    const app = await startApp({ env: { ...ADMIN_ENV, ...env } });
    const secure = { "X-Forwarded-Proto": "http, https" };
    const credentials = jsonBody({ username: "root", password: PASSWORD });
    const signIn = async (headers: HeaderFields) =>
      await app.send("/v1/sessions", {
        ...credentials,
        headers: { ...credentials.headers, ...headers },
      });
    const reply = await signIn(secure);
    const { token } = dataOf(reply);
    const rules = "Max-Age=3600; Path=/; HttpOnly; SameSite=Strict";
    expect(reply.headers.get("set-cookie")).toBe(`__Host-mine=${token}; ${rules}; Secure`);
    const plain = await signIn({});
    expect(plain.headers.get("set-cookie")).toBe(`mine=${dataOf(plain)["token"]}; ${rules}`);
    const statusOf = async (headers: HeaderFields) =>
      (await app.send("/v1/me", { headers })).status;
    expect(await statusOf({ ...secure, Cookie: `__Host-mine=${token}` })).toBe(200);
    expect(await statusOf({ ...secure, Cookie: `mine=${token}` })).toBe(401);
    expect(await statusOf({ Cookie: `mine=${token}` })).toBe(200);
    expect(await statusOf({ Cookie: `repsync_session=${token}` })).toBe(401);
    const headers = { ...secure, Cookie: `__Host-mine=${token}`, Origin: "https://front.example" };
    const end = (host: string) =>
      app.send("/v1/sessions/current", {
        method: "DELETE",
        headers: { ...headers, "X-Forwarded-Host": host },
      });
    expect((await end("other.example")).status).toBe(403);
    const ended = await end("front.example:443");
    expect(ended.headers.get("set-cookie")).toMatch(/^__Host-mine=; Max-Age=0;.*Secure$/);
  });

  test("D-8.6 nobody is believed about TLS without a trusted proxy", async () => {
    const { app, token } = await signedIn();
    const headers = { "X-Forwarded-Proto": "https", Cookie: `__Host-repsync_session=${token}` };
    expect((await app.send("/v1/me", { headers })).status).toBe(401);
  });
});

describe("signing in and up", () => {
  const PATHS = ["/v1/sessions", "/v1/signup"] as const;
  const BODIES = {
    "/v1/sessions": { username: "root", password: PASSWORD },
    "/v1/signup": { username: "ana", email: "ana@example.com", password: PASSWORD },
  };

  test.each(PATHS)("D-8.6 %s is forbidden to pages of other origins", async (path) => {
    const { app } = await signedIn();
    const good = jsonBody(BODIES[path]);
    const [, ...pages] = foreignPages(app).filter((page) => !("Referer" in page));
    for (const page of pages) {
      const reply = await app.send(path, { ...good, headers: { ...good.headers, ...page } });
      expect([page, reply.status, reply.json["code"]]).toEqual([page, 403, "forbidden"]);
    }
    for (const type of ["text/plain", "multipart/form-data", ""]) {
      const reply = await app.send(path, { ...good, headers: { "Content-Type": type } });
      expect([type, reply.status, reply.json["code"]]).toEqual([type, 400, "invalid_request"]);
    }
    expect([200, 201]).toContain((await app.send(path, good)).status);
  });

  test("D-8.6 a page of CORS_ORIGINS gets the token without the cookie", async () => {
    const origin = "https://app.example";
    const { app } = await signedIn({ CORS_ORIGINS: origin });
    const good = jsonBody(BODIES["/v1/sessions"]);
    for (const page of [{ "Sec-Fetch-Site": "cross-site", Origin: origin }, { Origin: origin }]) {
      const reply = await app.send("/v1/sessions", {
        ...good,
        headers: { ...good.headers, ...page },
      });
      expect(reply.status).toBe(200);
      expect(typeof dataOf(reply)["token"]).toBe("string");
      expect(reply.headers.has("set-cookie")).toBe(false);
      expect(reply.headers.get("access-control-allow-origin")).toBe(origin);
    }
  });

  test("D-8.6 a cookie that comes along with signing in changes nothing", async () => {
    const { app } = await signedIn();
    const good = jsonBody(BODIES["/v1/sessions"]);
    const headers = { ...good.headers, Cookie: "repsync_session=x" };
    const reply = await app.send("/v1/sessions", { ...good, headers });
    expect([reply.status, reply.headers.has("set-cookie")]).toEqual([200, true]);
  });
});

test("D-8.6 a Host that is no host makes no page an own one", async () => {
  const { raw } = await startApp();
  const headers = "Content-Type: application/json\r\nContent-Length: 2";
  const reply = await raw(
    `POST /v1/sessions HTTP/1.1\r\nHost: ::/?#\r\nOrigin: https://app.example\r\n${headers}\r\n\r\n{}`,
  );
  expect(reply.status).toBe(403);
});

describe("CORS", () => {
  const ORIGIN = "https://app.example";
  const PATHS = ["/v1/me", "/v1/public/profiles/x/reputation", "/api/v1/sync/status"];

  test.each(PATHS)(
    "D-8.6 %s may be asked and read by pages of CORS_ORIGINS, never with credentials",
    async (path) => {
      const app = await startApp({ env: { CORS_ORIGINS: `https://other.example,${ORIGIN}` } });
      const question = { Origin: ORIGIN, "Access-Control-Request-Method": "GET" };
      const preflight = await app.send(path, { method: "OPTIONS", headers: question });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-methods")).toContain("GET");
      expect(preflight.headers.get("access-control-allow-headers")).toContain("X-API-Key");
      expect(preflight.headers.has("x-request-id")).toBe(true);
      const reply = await app.send(path, { headers: { Origin: ORIGIN } });
      const exposed = reply.headers.get("access-control-expose-headers") ?? "";
      expect(exposed).toContain("Retry-After");
      // Of an exported file, its name.
      expect(exposed).toContain("Content-Disposition");
      const own = /^(?!access-control-|vary$|date$|content-|cache-control$)/;
      for (const name of [...reply.headers.keys()].filter((each) => own.test(each))) {
        expect(exposed.toLowerCase().split(", ")).toContain(name);
      }
      for (const { headers } of [preflight, reply]) {
        expect(headers.get("access-control-allow-origin")).toBe(ORIGIN);
        expect(headers.get("vary")).toContain("Origin");
        expect(headers.has("access-control-allow-credentials")).toBe(false);
      }
      const stranger = await app.send(path, { headers: { Origin: "https://evil.example" } });
      expect(stranger.headers.has("access-control-allow-origin")).toBe(false);
      expect(stranger.headers.get("vary")).toContain("Origin");
      const refused = await app.send(path, {
        method: "OPTIONS",
        headers: { ...question, Origin: "https://evil.example" },
      });
      expect(refused.status).toBe(405);
    },
  );

  test("D-8.6 such a page may send every header that the interfaces describe", async () => {
    const app = await startApp({ env: { CORS_ORIGINS: ORIGIN } });
    const { paths } = JSON.parse((await app.send("/swagger/json")).text);
    const operations = Object.values<object>(paths).flatMap((each) => Object.values(each));
    const described = operations.flatMap(({ parameters = [] }) => parameters);
    const asked = described.flatMap((each) => (each.in === "header" ? [each.name] : []));
    const preflight = await app.send("/api/v1/sync/push/items", {
      method: "OPTIONS",
      headers: { Origin: ORIGIN, "Access-Control-Request-Method": "POST" },
    });
    const allowed = preflight.headers.get("access-control-allow-headers")?.split(", ");
    expect(asked).toContain("X-Sync-Conflict");
    expect(asked.filter((name) => !allowed?.includes(name))).toEqual([]);
  });

  test("D-8.6 without CORS_ORIGINS no page may read anything", async () => {
    const app = await startApp();
    for (const path of [...PATHS, "/swagger/json", "/metrics", "/nowhere"]) {
      const { headers } = await app.send(path, { headers: { Origin: ORIGIN } });
      const cors = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
      expect([path, cors]).toEqual([path, []]);
    }
  });
});

describe("pages", () => {
  test("D-8.6 /swagger stands in no frame, and runs its own scripts only", async () => {
    const app = await startApp();
    const page = await app.send("/swagger");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("frame-ancestors 'none'; base-uri 'none'");
    expect(policy).toMatch(/script-src 'self'( 'sha256-[A-Za-z0-9+/]{43}=')+;/);
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    const script = await app.send("/swagger/swagger-ui-bundle.js");
    for (const { headers } of [page, script]) {
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    }
  });
});

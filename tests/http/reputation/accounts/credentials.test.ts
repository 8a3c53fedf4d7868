// What every authenticated operation under /v1 does with credentials that are not right. D-5.2, D-5.4, D-5.5, R-5.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SignJWT } from "jose";
import { releaseResources } from "../../../support/resources.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { openApiDocument } from "../../support/check-reply.ts";
import { RawConnection } from "../../support/raw-http.ts";
import type { SyncApp } from "../../support/sync-app.ts";
import { essence } from "../essence.ts";
import { dataOf, jsonBody, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";
import { BODY_ROUTES, KEY_ROUTES, nameOf, ROUTES, USER_ROUTES } from "../routes.ts";

const SECRET = "a secret of at least thirty-two bytes";
/** Well-formed, and nobody's. */
const UNKNOWN_KEY = "rep_live_0000000000000000000000000000000Ql6wK";

function sign(claims: Record<string, unknown>, { secret = SECRET, alg = "HS256" } = {}) {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const all = { iss: "repsync", aud: "repsync", sub: "ana", role: "user", jti: "no-such-session" };
  return new SignJWT({ ...all, iat: nowSeconds, exp: nowSeconds + 600, ...claims })
    .setProtectedHeader({ alg })
    .sign(new TextEncoder().encode(secret));
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

/** A request with good values, but for the credential. */
function requestOf(route: (typeof ROUTES)[number], headers: Record<string, string>) {
  const { method, body } = route;
  return body === undefined
    ? { method, headers }
    : { ...jsonBody(body, method), headers: { "Content-Type": "application/json", ...headers } };
}

test("D-6.8 the shared suites call every operation under /v1 of the OpenAPI document", async () => {
  const app = await startReputation({ name: "", isAvailable: true, makeUrl });
  const { paths } = await openApiDocument(app.url);
  const documented = Object.entries(paths)
    .filter(([path]) => path.startsWith("/v1/"))
    .flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
  await releaseResources();
  expect(ROUTES.map(nameOf).sort()).toEqual(documented.sort());
});

onReputationBackends("credentials", (backend) => {
  let app: SyncApp;
  let ana: Person;
  let bea: Person;
  let key: string;
  let gone: Person;
  let ended: Person;
  let caller: Person;
  let dead: { orphan: string; revoked: string; rotated: string };

  beforeAll(async () => {
    app = await startReputation(backend, { JWT_SECRET: SECRET });
    ana = await Person.signUp(app, "ana");
    bea = await Person.signUp(app, "bea");
    key = await ana.issueKey();
    gone = await Person.signUp(app, "gone");
    ended = await Person.signIn(app, "bea");
    await ended.send("/v1/sessions/current", { method: "DELETE" });
    caller = await Person.signUp(app, "caller");
    dead = await makeDeadKeys();
    await gone.send("/v1/me", { method: "DELETE" });
  });
  afterAll(releaseResources);

  async function makeDeadKeys() {
    const [first, second] = [
      dataOf(await caller.post("/v1/me/api-keys", { name: "revoked" })),
      dataOf(await caller.post("/v1/me/api-keys", { name: "rotated" })),
    ];
    await caller.send(`/v1/me/api-keys/${first["id"]}`, { method: "DELETE" });
    await caller.post(`/v1/me/api-keys/${second["id"]}/rotate`, {});
    const orphan = await gone.issueKey();
    return { orphan, revoked: String(first["key"]), rotated: String(second["key"]) };
  }

  describe.each(USER_ROUTES)("$method $template", (route) => {
    test("D-5.5, D-5.2, R-5 takes a good token only", async () => {
      const [head = "", payload = "", signature = ""] = ana.token.split(".");
      const none = Buffer.from('{"alg":"none"}').toString("base64url");
      const own = claimsOf(ana.token);
      const bearers: [string, string][] = [
        ["", "token_invalid"],
        [key, "token_invalid"],
        [UNKNOWN_KEY, "token_invalid"],
        ["x.y.z", "token_invalid"],
        ["\u00e9", "token_invalid"],
        ["x".repeat(8_000), "token_invalid"],
        [`${ana.token}x`, "token_invalid"],
        [`${head}.${payload}.`, "token_invalid"],
        [`${none}.${payload}.`, "token_invalid"],
        [`${none}.${payload}.${signature}`, "token_invalid"],
        [`${head}.${bea.token.split(".")[1]}.${signature}`, "token_invalid"],
        [`${ana.token}, ${ana.token}`, "token_invalid"],
        [await sign({}), "token_invalid"],
        [await sign({ ...own, jti: "no-such-session" }), "token_invalid"],
        [await sign({ ...own, sub: "bea" }), "token_invalid"],
        [await sign(own, { secret: "x".repeat(40) }), "token_invalid"],
        [await sign(own, { alg: "HS512" }), "token_invalid"],
        [await sign({ ...own, aud: "other" }), "token_invalid"],
        [await sign({ ...own, iss: "other" }), "token_invalid"],
        [await sign({ ...own, role: "superuser" }), "token_invalid"],
        [await sign({ ...own, nbf: Math.floor(Date.now() / 1000) + 60 }), "token_invalid"],
        [await sign({ ...own, exp: Math.floor(Date.now() / 1000) }), "token_expired"],
        [ended.token, "token_invalid"],
        [gone.token, "token_invalid"],
      ];
      const refused: [Record<string, string>, string][] = [
        [{}, "token_missing"],
        [{ "X-API-Key": key }, "token_missing"],
        [{ "X-API-Key": ana.token }, "token_missing"],
        [{ Authorization: "" }, "token_missing"],
        [{ Cookie: `other=${ana.token}` }, "token_missing"],
        [{ Authorization: "Bearer" }, "token_invalid"],
        [{ Authorization: "Basic YW5hOnB3" }, "token_invalid"],
        [{ Authorization: ana.token }, "token_invalid"],
        [{ Authorization: `Token ${ana.token}` }, "token_invalid"],
        [{ Cookie: "repsync_session=x" }, "token_invalid"],
        [{ Cookie: `repsync_session=${key}` }, "token_invalid"],
        ...bearers.map(([token, code]): [Record<string, string>, string] => [
          { Authorization: `Bearer ${token}` },
          code,
        ]),
      ];
      for (const [headers, code] of refused) {
        const reply = await app.send(route.path, requestOf(route, headers));
        expect([headers, reply.status, reply.json["code"]]).toEqual([headers, 401, code]);
        expect(reply.headers.get("www-authenticate")).toStartWith("Bearer");
        expect(reply.headers.has("ratelimit")).toBe(false);
      }
      const query = `${route.path}?token=${ana.token}&access_token=${ana.token}`;
      expect((await app.send(query, requestOf(route, {}))).json["code"]).toBe("token_missing");
      expect(dataOf(await ana.send("/v1/me"))).toMatchObject({ username: "ana", plan: "free" });
    });

    test("D-5.4 takes the token of a session from either place, in any case of its scheme", async () => {
      for (const headers of [
        { Authorization: `Bearer ${caller.token}` },
        { Authorization: `bearer  ${caller.token}` },
        {
          Cookie: `a=b; repsync_session=${caller.token}; c=d`,
          "Sec-Fetch-Site": "same-origin",
          "Content-Type": "application/json",
        },
      ]) {
        // Nothing that would end the session or the account.
        const isOwn = route.credential === "user" && !route.path.includes("me/");
        const isEnd = route.method === "DELETE" && isOwn;
        const probe = isEnd ? { ...route, method: "GET" as const, path: "/v1/me" } : route;
        const { status } = await app.send(probe.path, requestOf(probe, headers));
        expect([200, 201, 403, 404]).toContain(status);
        expect(status === 403).toBe(route.credential === "administrator");
      }
    });
  });

  describe.each(KEY_ROUTES)("$method $template", (route) => {
    test("R-5, R-7, D-5.2, D-5.6 takes a good API key only", async () => {
      const keys: [string, string][] = [
        ["", "api_key_missing"],
        [" ", "api_key_missing"],
        ["x", "api_key_invalid"],
        ["rep_live_", "api_key_invalid"],
        [ana.token, "api_key_invalid"],
        [UNKNOWN_KEY, "api_key_invalid"],
        [key.slice(0, -1), "api_key_invalid"],
        [`${key}0`, "api_key_invalid"],
        [key.toLowerCase(), "api_key_invalid"],
        [key.replace("rep_live_", "rep_test_"), "api_key_invalid"],
        [`${key}, ${key}`, "api_key_invalid"],
        [`Bearer ${key}`, "api_key_invalid"],
        [`"${key}"`, "api_key_invalid"],
        ["' OR 1=1 --", "api_key_invalid"],
        ['{"$ne":null}', "api_key_invalid"],
        ["x".repeat(8_000), "api_key_invalid"],
        [dead.orphan, "api_key_invalid"],
        [dead.revoked, "api_key_revoked"],
        [dead.rotated, "api_key_revoked"],
      ];
      const refused: [Record<string, string>, string][] = [
        [{}, "api_key_missing"],
        [{ Authorization: `Bearer ${key}` }, "api_key_missing"],
        [{ Authorization: `Bearer ${ana.token}` }, "api_key_missing"],
        [{ Cookie: `repsync_session=${ana.token}; X-API-Key=${key}` }, "api_key_missing"],
        ...keys.map(([given, code]): [Record<string, string>, string] => [
          { "X-API-Key": given },
          code,
        ]),
      ];
      for (const [headers, code] of refused) {
        const reply = await app.send(route.path, requestOf(route, headers));
        expect([headers, reply.status, reply.json["code"]]).toEqual([headers, 401, code]);
        expect(reply.headers.get("www-authenticate")).toStartWith("ApiKey");
        expect(reply.headers.has("ratelimit")).toBe(false);
      }
      const query = `${route.path}?X-API-Key=${key}&api_key=${key}`;
      expect((await app.send(query)).json["code"]).toBe("api_key_missing");
      const usage = dataOf(await caller.send("/v1/me/usage"));
      expect(usage["minute"]).toMatchObject({ used: 0 });
    });
  });

  test("D-5.5, D-5.2 a key is 401 from its expires_at on", async () => {
    const brief = { name: "brief", expires_at: new Date(Date.now() + 1_000).toISOString() };
    const { key: text, status } = dataOf(await bea.post("/v1/me/api-keys", brief));
    expect(status).toBe("active");
    const statusNow = async () => {
      const items = dataOf(await bea.send("/v1/me/api-keys"))["items"] as { status: string }[];
      return items[0]?.status;
    };
    await pollUntil("end of the key", async () => (await statusNow()) !== "active");
    expect(await statusNow()).toBe("expired");
    const reply = await app.send("/v1/public/profiles/ana", {
      headers: { "X-API-Key": String(text) },
    });
    expect([reply.status, reply.json["code"]]).toEqual([401, "api_key_expired"]);
  });

  test("D-5.5, D-6.1, D-5.2.4 what belongs to somebody else is told as what does not exist", async () => {
    const consent = await ana.consent("profile_lookup");
    const { id } = dataOf(await ana.post("/v1/me/api-keys", { name: "k" }));
    const pairs = [
      ["DELETE", `/v1/me/consents/${consent}`, "/v1/me/consents/999999"],
      ["DELETE", `/v1/me/api-keys/${id}`, `/v1/me/api-keys/${crypto.randomUUID()}`],
      ["POST", `/v1/me/api-keys/${id}/rotate`, `/v1/me/api-keys/${crypto.randomUUID()}/rotate`],
    ] as const;
    for (const [method, theirs, nobodys] of pairs) {
      const [a, b] = [await bea.send(theirs, { method }), await bea.send(nobodys, { method })];
      expect(essence(a)).toEqual(essence(b));
      expect([a.status, a.json["code"]]).toEqual([404, "not_found"]);
    }
    const cyd = await Person.signUp(app, "cyd");
    for (const list of ["/v1/me/consents", "/v1/me/api-keys", "/v1/me/accesses"]) {
      expect(dataOf(await cyd.send(list))).toEqual({ items: [], next_cursor: null });
    }
    expect((await bea.send(`/v1/me/api-keys?cursor=${id}`)).status).toBe(400);
    const items = dataOf(await ana.send("/v1/me/consents?status=active"))["items"] as object[];
    expect(items).toMatchObject([{ id: consent, status: "active" }]);
  });

  test("D-5.7, D-5.4, D-5.4.2 the administrator's operation is for administrators, whatever the token says", async () => {
    const forged = await sign({ ...claimsOf(ana.token), role: "administrator" });
    for (const token of [ana.token, forged]) {
      for (const username of ["ana", "root", "nobody"]) {
        const reply = await app.send(`/v1/admin/accounts/${username}/plan`, {
          ...jsonBody({ plan: "enterprise" }, "PUT"),
          headers: { Authorization: `Bearer ${token}` },
        });
        expect([reply.status, reply.json["code"]]).toEqual([403, "forbidden"]);
      }
    }
    expect(dataOf(await ana.send("/v1/me"))).toMatchObject({ plan: "free", role: "user" });
  });

  test.each(BODY_ROUTES.filter(({ credential }) => credential !== "none"))(
    "D-3.11, D-3.5.8 $method $template checks the token before the body is read",
    async ({ method, path }) => {
      const connection = await RawConnection.open(app.url);
      const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost", "Content-Length: 1000"];
      await connection.write(`${lines.join("\r\n")}\r\n\r\n{`);
      expect((await connection.readReply({ toHead: false })).status).toBe(401);
      connection.close();
    },
  );
});

async function makeUrl() {
  return "sqlite::memory:";
}

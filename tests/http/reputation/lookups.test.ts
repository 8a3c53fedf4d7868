import { describe, expect, test } from "bun:test";
import { startApp } from "../support/sync-app.ts";
import { ADMIN_ENV, dataOf, jsonBody, lookUp, Person } from "./people.ts";

const ACCOUNTS = [
  {
    username: "ana",
    platform: "GitHub",
    handle: "ana-dev",
    verified: true,
    account_created_at: "2018-11-21T00:00:00Z",
    activity_count: 1500,
    last_synced_at: "2026-11-20T08:00:00Z",
    updated_at: "2026-11-20T09:00:00Z",
  },
  {
    username: "ana",
    platform: "mastodon",
    handle: "@ana",
    verified: false,
    updated_at: "2026-11-21T09:00:00Z",
  },
];

async function setScene() {
  const app = await startApp({ env: ADMIN_ENV });
  const ana = await Person.signUp(app, "ana");
  const business = await Person.signUp(app, "business");
  const key = await business.issueKey();
  return { app, ana, business, key };
}

describe("lookups", () => {
  test("R-1, R-4, R-2.1, R-2.6, R-9, D-5.1 reputation() answers the five fields in the envelope", async () => {
    const { app, ana, key } = await setScene();
    await ana.consent();
    await app.push("platform_accounts", { records: ACCOUNTS });
    const reply = await lookUp(app, key, { username: "ana" });
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.json)).toEqual(["success", "data", "meta"]);
    expect(reply.json["success"]).toBe(true);
    expect(Object.keys(dataOf(reply))).toEqual([
      "username",
      "score",
      "star_level",
      "verified_platforms",
      "updated_at",
    ]);
    expect(dataOf(reply)).toMatchObject({ username: "ana", verified_platforms: 1 });
    expect(dataOf(reply)["updated_at"]).toMatch(/^20\d\d-/);
    expect(reply.json["meta"]).toMatchObject({ version: "v1" });
  });

  test("R-2.2, D-6.2 profile() answers the six fields, null texts as empty ones", async () => {
    const { app, ana, key } = await setScene();
    await ana.consent("profile_lookup");
    await ana.send(
      "/v1/me/profile",
      jsonBody({ bio: "Développeuse", profession: "engineer" }, "PATCH"),
    );
    const reply = await lookUp(app, key, { username: "ana", rest: "" });
    expect(reply.status).toBe(200);
    expect(dataOf(reply)).toEqual({
      username: "ana",
      display_name: "",
      bio: "Développeuse",
      profession: "engineer",
      location: "",
      verified: false,
    });
  });

  test("R-2.3, D-6.2 platforms() lists the verified ones, lowercased", async () => {
    const { app, ana, key } = await setScene();
    await ana.consent("platforms_lookup");
    await app.push("platform_accounts", { records: ACCOUNTS });
    const reply = await lookUp(app, key, { username: "ana", rest: "/platforms" });
    expect(dataOf(reply) as unknown).toEqual([
      {
        platform: "github",
        handle: "ana-dev",
        verified: true,
        last_synced_at: "2026-11-20T08:00:00Z",
      },
    ]);
  });

  test("R-5, R-7, D-5.8 the checks come in their order: key, profile, consent", async () => {
    const { app, key } = await setScene();
    const codes = async (given: string, username: string) => {
      const reply = await lookUp(app, given, { username });
      return [reply.status, reply.json["code"]];
    };
    const wellFormed = "rep_live_0000000000000000000000000000000Ql6wK";
    expect(await codes("", "nobody")).toEqual([401, "api_key_missing"]);
    expect(await codes("rep_live_x", "nobody")).toEqual([401, "api_key_invalid"]);
    expect(await codes(wellFormed, "nobody")).toEqual([401, "api_key_invalid"]);
    expect(await codes(key, "nobody")).toEqual([404, "profile_not_found"]);
    expect(await codes(key, "ana")).toEqual([403, "consent_required"]);
  });

  test("D-5.3 every reply has its headers; metered ones tell the limits", async () => {
    const { app, ana, key } = await setScene();
    await ana.consent();
    for (const username of ["ana", "business", "nobody"]) {
      const { headers } = await lookUp(app, key, { username });
      expect(headers.get("cache-control")).toBe("private, no-store");
      expect(headers.get("ratelimit-policy")).toBe('"minute";q=30;w=60, "month";q=1000');
      expect(headers.get("ratelimit")).toMatch(/^"minute";r=\d+;t=\d+, "month";r=\d+;t=\d+$/);
      expect(headers.get("x-ratelimit-limit")).toBe("30");
      expect(Number(headers.get("x-ratelimit-reset"))).toBeLessThanOrEqual(60);
    }
    const refused = await lookUp(app, "", { username: "ana" });
    expect(refused.headers.has("ratelimit")).toBe(false);
    expect(refused.headers.get("www-authenticate")).toBe(
      'ApiKey realm="repsync", header="X-API-Key"',
    );
    const headers = { "X-API-Key": key, "X-Request-Id": "caller-id_1" };
    const own = await app.send("/v1/public/profiles/ana", { headers });
    expect(own.headers.get("x-request-id")).toBe("caller-id_1");
    const [access] = dataOf(await ana.send("/v1/me/accesses"))["items"] as { request_id: string }[];
    expect(access?.request_id).toBe("caller-id_1");
  });

  test("R-8, D-6.4 the thirty-first call of a minute is 429 with Retry-After, whatever it asks for", async () => {
    const { app, key } = await setScene();
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await lookUp(app, key, { username: "ana" })).status),
    );
    expect(statuses).toEqual(Array(30).fill(403));
    for (const username of ["ana", "nobody"]) {
      const reply = await lookUp(app, key, { username });
      expect([reply.status, reply.json["code"]]).toEqual([429, "rate_limited"]);
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(reply.headers.get("x-ratelimit-remaining")).toBe("0");
    }
    expect((await lookUp(app, "rep_live_x", { username: "ana" })).status).toBe(401);
  });

  test("D-5.7 an unlimited month has no month policy, and a new plan holds at once", async () => {
    const { app, key } = await setScene();
    const root = await Person.signIn(app, "root");
    const path = "/v1/admin/accounts/business/plan";
    await root.send(path, jsonBody({ plan: "enterprise", rate_limit_per_minute: 77 }, "PUT"));
    const { headers } = await lookUp(app, key, { username: "ana" });
    expect(headers.get("ratelimit-policy")).toBe('"minute";q=77;w=60');
  });

  test("D-5.5 a token is no API key, and an API key no token", async () => {
    const { app, ana, key } = await setScene();
    expect((await lookUp(app, ana.token, { username: "ana" })).json["code"]).toBe(
      "api_key_invalid",
    );
    const bearer = { headers: { Authorization: `Bearer ${ana.token}` } };
    const asBearer = await app.send("/v1/public/profiles/ana", bearer);
    expect(asBearer.json["code"]).toBe("api_key_missing");
    const asToken = { headers: { Authorization: `Bearer ${key}` } };
    expect((await app.send("/v1/me/consents", asToken)).json["code"]).toBe("token_invalid");
    const header = { headers: { "X-API-Key": key } };
    expect((await app.send("/v1/me/consents", header)).json["code"]).toBe("token_missing");
  });

  test("D-3.11 HEAD answers as GET does, and counts; other methods are 405", async () => {
    const { app, ana, key } = await setScene();
    await ana.consent();
    const path = "/v1/public/profiles/ana/reputation";
    const head = await app.send(path, { method: "HEAD", headers: { "X-API-Key": key } });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("x-ratelimit-remaining")).toBe("29");
    const post = await app.send(path, { method: "POST", headers: { "X-API-Key": key } });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("D-6.2, D-6.2.2 odd names are looked up as they are", async () => {
    const { app, key } = await setScene();
    const names = ["日本 語", "a/b", "%41", "__proto__", "x'; DROP TABLE profiles; --", "ANA"];
    await app.push("profiles", { records: names.map((username) => ({ username, public: true })) });
    for (const username of names) {
      expect((await lookUp(app, key, { username })).json["code"]).toBe("consent_required");
    }
    expect((await lookUp(app, key, { username: "x".repeat(201) })).status).toBe(404);
  });
});

import { describe, expect, test } from "bun:test";
import type { Environment } from "../../../../src/app/config.ts";
import {
  BUILT_IN_TABLES,
  type TableEntry,
} from "../../../../src/domain/sync/table/registry-schema.ts";
import { POSTGRESQL } from "../../support/backends.ts";
import { bodyText } from "../../support/raw-http.ts";
import { type SyncApp, startApp } from "../../support/sync-app.ts";
import { ADMIN_ENV, dataOf, jsonBody, lookUp, PASSWORD, Person, releaseName } from "../people.ts";

const itemsOf = (data: Record<string, unknown>) => data["items"] as Record<string, unknown>[];

async function setScene(env: Environment = {}): Promise<{ app: SyncApp; ana: Person }> {
  const app = await startApp({ env: { ...ADMIN_ENV, ...env } });
  return { app, ana: await Person.signUp(app, "ana") };
}

describe("API keys", () => {
  test("D-5.5, D-5.6 a key is shown once, listed without its text, and kept only as HMAC", async () => {
    const { ana } = await setScene();
    const reply = await ana.post("/v1/me/api-keys", { name: "shop" });
    expect(reply.status).toBe(201);
    const { key, id, created_at, ...rest } = dataOf(reply);
    expect(String(key)).toMatch(/^rep_live_[0-9A-Za-z]{36}$/);
    const last4 = String(key).slice(-4);
    const shown = {
      name: "shop",
      prefix: "rep_live_",
      last4,
      status: "active",
      expires_at: null,
      last_used_at: null,
    };
    expect(rest).toEqual(shown);
    const list = dataOf(await ana.send("/v1/me/api-keys"));
    expect(list).toEqual({ items: [{ id, created_at, ...shown }], next_cursor: null });
  });

  test("D-5.5, D-6.3 a revoked key is 401 at once, and stays listed", async () => {
    const { app, ana } = await setScene();
    const { key, id } = dataOf(await ana.post("/v1/me/api-keys", { name: "k" }));
    expect((await lookUp(app, String(key), { username: "x" })).status).toBe(404);
    for (let i = 0; i < 2; i++) {
      const reply = await ana.send(`/v1/me/api-keys/${id}`, { method: "DELETE" });
      expect([reply.status, dataOf(reply)["status"]]).toEqual([200, "revoked"]);
    }
    const refused = await lookUp(app, String(key), { username: "x" });
    expect([refused.status, refused.json["code"]]).toEqual([401, "api_key_revoked"]);
  });

  test("D-5.5 rotate() gives a new key; the old one works until the overlap ends", async () => {
    const { app, ana } = await setScene();
    const { key: first, id } = dataOf(await ana.post("/v1/me/api-keys", { name: "k" }));
    const rotated = await ana.post(`/v1/me/api-keys/${id}/rotate`, { overlap_seconds: 3600 });
    expect(rotated.status).toBe(201);
    const { key: second, id: secondId, created_at, expires_at } = dataOf(rotated);
    const listed = itemsOf(dataOf(await ana.send("/v1/me/api-keys")));
    const end = new Date(Date.parse(String(created_at)) + 3_600_000).toISOString();
    const [, old] = listed;
    expect([expires_at, old?.["status"], old?.["expires_at"]]).toEqual([null, "active", end]);
    for (const key of [first, second]) {
      expect((await lookUp(app, String(key), { username: "x" })).status).toBe(404);
    }
    await ana.send(`/v1/me/api-keys/${secondId}/rotate`, { method: "POST" });
    expect((await lookUp(app, String(second), { username: "x" })).json["code"]).toBe(
      "api_key_revoked",
    );
    const again = await ana.post(`/v1/me/api-keys/${secondId}/rotate`, {});
    expect([again.status, again.json["code"]]).toEqual([409, "conflict"]);
    const bad = await ana.post(`/v1/me/api-keys/${id}/rotate`, { overlap_seconds: 86_401 });
    expect(bad.status).toBe(400);
  });

  test("D-11.7 the 101st active key is refused, until one has ended", async () => {
    const { ana } = await setScene({ ACCOUNT_WRITES_PER_MINUTE: "1000" });
    for (let n = 0; n < 100; n++) await ana.issueKey();
    const refused = await ana.post("/v1/me/api-keys", { name: "one more" });
    expect([refused.status, refused.json["code"], refused.json["detail"]]).toEqual([
      409,
      "conflict",
      "There are 100 active API keys, as many as an account may have",
    ]);
    const [{ id }] = dataOf(await ana.send("/v1/me/api-keys?limit=1"))["items"] as [{ id: string }];
    expect((await ana.post(`/v1/me/api-keys/${id}/rotate`, {})).status).toBe(201);
    expect((await ana.post("/v1/me/api-keys", { name: "one more" })).status).toBe(409);
    const [newest] = dataOf(await ana.send("/v1/me/api-keys?limit=1"))["items"] as [{ id: string }];
    await ana.send(`/v1/me/api-keys/${newest.id}`, { method: "DELETE" });
    expect((await ana.post("/v1/me/api-keys", { name: "one more" })).status).toBe(201);
  });
});

describe("consents", () => {
  test("R-2.4, R-3, R-4 a consent has the five fields, and is listed newest first", async () => {
    const { ana } = await setScene();
    const body = { purpose: "reputation_lookup", expires_at: "2999-01-01T00:00:00+01:00" };
    const reply = await ana.post("/v1/me/consents", body);
    expect(reply.status).toBe(201);
    const { granted_at, ...consent } = dataOf(reply);
    expect(granted_at).toMatch(/Z$/);
    expect(consent).toEqual({
      id: 1,
      purpose: "reputation_lookup",
      expires_at: "2998-12-31T23:00:00Z",
      status: "active",
    });
    await ana.consent();
    const items = itemsOf(dataOf(await ana.send("/v1/me/consents")));
    expect(items.map(({ id, status }) => [id, status])).toEqual([
      [2, "active"],
      [1, "superseded"],
    ]);
    const active = itemsOf(dataOf(await ana.send("/v1/me/consents?status=active")));
    expect(active.map(({ id }) => id)).toEqual([2]);
  });

  test("D-6.1, D-6.3 a revoked consent forbids at once; deleting again changes nothing", async () => {
    const { app, ana } = await setScene();
    const id = await ana.consent();
    const key = await ana.issueKey();
    expect((await lookUp(app, key, { username: "ana" })).status).toBe(200);
    const path = `/v1/me/consents/${id}`;
    const revoked = await ana.send(path, { method: "DELETE" });
    expect([revoked.status, dataOf(revoked)["status"]]).toEqual([200, "revoked"]);
    expect((await lookUp(app, key, { username: "ana" })).json["code"]).toBe("consent_required");
    expect(dataOf(await ana.send(path, { method: "DELETE" }))).toEqual(dataOf(revoked));
  });

  test("D-6.1 bad purposes, times, filters and ids are refused", async () => {
    const { app, ana } = await setScene();
    const id = await ana.consent();
    for (const body of [
      {},
      { purpose: "everything" },
      { purpose: "reputation_lookup", expires_at: "2020-01-01" },
      { purpose: "reputation_lookup", expires_at: 5 },
      { purpose: "reputation_lookup", status: "active" },
    ]) {
      expect((await ana.post("/v1/me/consents", body)).status).toBe(400);
    }
    for (const query of ["status=ended", "purpose=x", "cursor=x", "limit=0"]) {
      expect((await ana.send(`/v1/me/consents?${query}`)).status).toBe(400);
    }
    const bea = await Person.signUp(app, "bea");
    for (const path of [`/v1/me/consents/${id}`, "/v1/me/consents/999", "/v1/me/consents/x"]) {
      expect((await bea.send(path, { method: "DELETE" })).status).toBe(404);
    }
  });
});

test("D-5.5, D-6.1 lists read in parts show each item once, also while more are added", async () => {
  const { ana } = await setScene();
  for (const [path, body] of [
    ["/v1/me/api-keys", { name: "k" }],
    ["/v1/me/consents", { purpose: "profile_lookup" }],
  ] as const) {
    const made: unknown[] = [];
    for (let i = 0; i < 5; i++) made.unshift(dataOf(await ana.post(path, body))["id"]);
    const seen: unknown[] = [];
    const sizes: number[] = [];
    for (let cursor: unknown = ""; cursor !== null; ) {
      const part = dataOf(await ana.send(`${path}?limit=2&cursor=${cursor}`));
      seen.push(...itemsOf(part).map(({ id }) => id));
      sizes.push(itemsOf(part).length);
      cursor = part["next_cursor"];
      await ana.post(path, body);
    }
    expect([path, seen]).toEqual([path, made]);
    expect(sizes).toEqual([2, 2, 1]);
  }
});

describe("me", () => {
  test("D-5.5, D-5.5.1 a profile change shows; {} changes nothing; bad and unknown fields are 400", async () => {
    const { ana } = await setScene();
    const change = (body: unknown) => ana.send("/v1/me/profile", jsonBody(body, "PATCH"));
    const changed = await change({ display_name: "Ana", location: "Jakarta", public: false });
    expect(dataOf(changed)).toMatchObject({
      display_name: "Ana",
      location: "Jakarta",
      public: false,
    });
    expect(dataOf(await change({}))).toEqual(dataOf(changed));
    for (const body of [{ verified: true }, { bio: 5 }, { public: "yes" }, [], "text", null]) {
      expect((await change(body)).status).toBe(400);
    }
    const polluted = await ana.send("/v1/me/profile", {
      method: "PATCH",
      body: '{"__proto__":{"public":true},"constructor":1}',
    });
    expect(polluted.status).toBe(400);
    expect(polluted.json["errors"] as unknown[]).toHaveLength(2);
  });

  test("D-9.5 a profile is shown to its owner, hidden or not; an account without one gets 404", async () => {
    const { app, ana } = await setScene();
    await ana.send("/v1/me/profile", jsonBody({ bio: "Woodworker", public: false }, "PATCH"));
    const reply = await ana.send("/v1/me/profile");
    expect([reply.status, dataOf(reply)]).toEqual([
      200,
      {
        username: "ana",
        display_name: "",
        bio: "Woodworker",
        profession: "",
        location: "",
        verified: false,
        public: false,
      },
    ]);
    const root = await Person.signIn(app, "root");
    const absent = await root.send("/v1/me/profile");
    expect([absent.status, absent.json["code"]]).toEqual([404, "profile_not_found"]);
  });

  test("D-5.5 usage() and accessLog() show what lookups used and who looked", async () => {
    const { app, ana } = await setScene();
    const key = await ana.issueKey();
    const before = dataOf(await ana.send("/v1/me/usage"));
    expect(before).toMatchObject({
      plan: "free",
      minute: { limit: 30, used: 0, remaining: 30 },
      month: { limit: 1000, used: 0, remaining: 1000 },
    });
    await lookUp(app, key, { username: "ana", rest: "/platforms" });
    await lookUp(app, key, { username: "nobody" });
    const after = dataOf(await ana.send("/v1/me/usage"));
    expect(after).toMatchObject({ minute: { used: 2, remaining: 28 }, month: { used: 2 } });
    const days = after["days"] as { date: string; calls: number; denied: number }[];
    expect(days.length).toBe(31);
    // The calls may be those of both sides of a midnight.
    expect(days.reduce((sum, { calls }) => sum + calls, 0)).toBe(2);
    expect(days.slice(-2).reduce((sum, { denied }) => sum + denied, 0)).toBe(2);
    const [used] = itemsOf(dataOf(await ana.send("/v1/me/api-keys"))) as { last_used_at: string }[];
    expect(used?.last_used_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/);
    expect((after["month"] as { reset_at: string }).reset_at).toMatch(/-01T00:00:00Z$/);
    const accesses = dataOf(await ana.send("/v1/me/accesses"));
    expect(itemsOf(accesses)).toMatchObject([
      {
        account: "ana",
        purpose: "platforms_lookup",
        decision: "denied",
        code: "consent_required",
      },
    ]);
    expect((await ana.send("/v1/me/accesses?cursor=x")).status).toBe(400);
  });

  test("D-8.11 every key that was used says when, also where rotations have made more than 100", async () => {
    const { app, ana } = await setScene({ ACCOUNT_WRITES_PER_MINUTE: "10000" });
    const root = await Person.signIn(app, "root");
    const plan = jsonBody({ plan: "business" }, "PUT");
    expect((await root.send("/v1/admin/accounts/ana/plan", plan)).status).toBe(200);
    const use = async (key: unknown) =>
      expect((await lookUp(app, String(key), { username: "nobody" })).status).toBe(404);
    const ids: unknown[] = [];
    for (let n = 0; n < 100; n++) {
      const { id, key } = dataOf(await ana.post("/v1/me/api-keys", { name: "a key" }));
      ids.push(id);
      await use(key);
    }
    for (const id of ids.slice(0, 10)) {
      const rotation = { overlap_seconds: 3_600 };
      await use(dataOf(await ana.post(`/v1/me/api-keys/${id}/rotate`, rotation))["key"]);
    }
    const list = itemsOf(dataOf(await ana.send("/v1/me/api-keys?limit=1000")));
    expect(list.length).toBe(110);
    expect(list.filter(({ last_used_at }) => last_used_at === null)).toEqual([]);
    const ended = await ana.send(`/v1/me/api-keys/${ids[0]}`, { method: "DELETE" });
    expect(dataOf(ended)["last_used_at"]).toBeString();
  });

  test("D-6.6, D-5.5.4 reputation() explains the score by points that sum to it", async () => {
    const { app, ana } = await setScene();
    const record = { username: "ana", platform: "github", verified: true, activity_count: 900 };
    await app.push("platform_accounts", {
      records: [record, { ...record, platform: "etsy", rating: "4.5", rating_count: 10 }],
    });
    const data = dataOf(await ana.send("/v1/me/reputation"));
    const points = data["points"] as { platform: string; points: number }[];
    expect(points.map(({ platform }) => platform)).toEqual(["etsy", "github"]);
    const sum = points.reduce((total, { points: some }) => total + some, 0);
    expect(Math.abs(sum - Number(data["score"]))).toBeLessThanOrEqual(0.05);
    expect(data["score_version"]).toBe("rep-2");
    const root = await Person.signIn(app, "root");
    expect((await root.send("/v1/me/reputation")).json["code"]).toBe("profile_not_found");
  });

  test.each([
    "/v1/me/",
    "/v1/me/consents/..",
    "/v1/me/consents/%2e%2e",
    "/v1/me/api-keys/x/../..",
    "/v1/me/api-keys/x\\..\\..",
  ])("D-3.11, D-6.1, D-3.11.1 DELETE %s is no route, and erases nobody", async (path) => {
    const { app, ana } = await setScene();
    const reply = await app.raw(
      `DELETE ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${ana.token}\r\n\r\n`,
    );
    expect([reply.status, JSON.parse(bodyText(reply)).code]).toEqual([404, "not_found"]);
    expect((await ana.send("/v1/me")).status).toBe(200);
  });

  test("D-5.5 erase() removes the account and everything about the person at once", async () => {
    const { app, ana } = await setScene();
    const key = await ana.issueKey();
    await ana.consent();
    await app.push("platform_accounts", { records: [{ username: "ana", platform: "github" }] });
    const reply = await ana.send("/v1/me", { method: "DELETE" });
    expect([reply.status, dataOf(reply)]).toEqual([200, { status: "erased" }]);
    expect((await ana.send("/v1/me")).json["code"]).toBe("token_invalid");
    expect((await lookUp(app, key, { username: "ana" })).json["code"]).toBe("api_key_invalid");
    expect(await app.records("profiles")).toEqual([]);
    expect(await app.records("platform_accounts")).toEqual([]);
    await releaseName(app, "ana");
    const again = await Person.signUp(app, "ana");
    expect(itemsOf(dataOf(await again.send("/v1/me/consents")))).toEqual([]);
    expect(itemsOf(dataOf(await again.send("/v1/me/accesses")))).toEqual([]);
  });
});

describe("a registry's own profiles", () => {
  const { username, bio, updated_at } = BUILT_IN_TABLES["profiles"]!.columns;
  const few = { ...BUILT_IN_TABLES["profiles"]!, columns: { username, bio, updated_at } };

  test("D-6.2 without the column nobody is told to be hidden", async () => {
    const app = await startApp({ env: ADMIN_ENV, tables: { profiles: few as TableEntry } });
    const ana = await Person.signUp(app, "ana");
    const change = (body: object) => ana.send("/v1/me/profile", jsonBody(body, "PATCH"));
    expect(dataOf(await change({ bio: "hello" }))).toMatchObject({ bio: "hello" });
    const refused = await change({ public: false });
    expect([refused.status, refused.json["code"]]).toEqual([400, "invalid_request"]);
    expect(refused.json["errors"]).toEqual([
      { pointer: "/public", detail: "Profiles have no such field here" },
    ]);
  });

  test.skipIf(!POSTGRESQL.isAvailable)(
    "D-5.4 on PostgreSQL nobody signs up without a profile where the table takes none",
    async () => {
      const columns = { username, created_at: { type: "integer" }, updated_at } as const;
      const profiles = { ...few, columns } as TableEntry;
      const app = await startApp({ backend: POSTGRESQL, env: ADMIN_ENV, tables: { profiles } });
      const body = { username: "ana", email: "ana@example.com", password: PASSWORD };
      const { status, json } = await app.send("/v1/signup", jsonBody(body));
      expect([status, json["code"]]).toEqual([409, "conflict"]);
      expect(json["detail"]).toContain("created_at");
      const { email: _, ...credentials } = body;
      expect((await app.send("/v1/sessions", jsonBody(credentials))).status).toBe(401);
    },
  );
});

describe("administration", () => {
  test("D-5.7 an administrator changes plans; the numbers are for enterprise only", async () => {
    const { app, ana } = await setScene();
    const root = await Person.signIn(app, "root");
    const put = (who: Person, body: unknown, name = "ana") =>
      who.send(`/v1/admin/accounts/${name}/plan`, jsonBody(body, "PUT"));
    const enterprise = { plan: "enterprise", calls_per_month: 5, rate_limit_per_minute: 6 };
    expect(dataOf(await put(root, enterprise))).toEqual({ username: "ana", ...enterprise });
    const none = { calls_per_month: null, rate_limit_per_minute: null };
    expect(dataOf(await put(root, { plan: "business" }))).toEqual({
      username: "ana",
      plan: "business",
      ...none,
    });
    expect((await put(root, { plan: "free", calls_per_month: 5 })).status).toBe(400);
    expect((await put(root, { plan: "gold" })).status).toBe(400);
    expect((await put(root, { plan: "free" }, "nobody")).status).toBe(404);
    expect((await put(ana, { plan: "enterprise" })).json["code"]).toBe("forbidden");
  });
});

// The session cookie is renewed while it is used, and what somebody who is not signed in is told. D-9.3.
import { describe, expect, test } from "bun:test";
import { SystemTimer } from "../../../../src/adapters/system/system.ts";
import { type Reply, startApp } from "../../support/sync-app.ts";
import { ADMIN_ENV, dataOf, jsonBody, PASSWORD } from "../people.ts";
import { onReputationBackends } from "../reputation-backends.ts";

const MINUTE_MS = 60_000;
const CREDENTIALS = { username: "root", password: PASSWORD };
const RULES = "Max-Age=3600; Path=/; HttpOnly; SameSite=Strict";

/** Real time that a test can move on, as MongoDB has a clock of its own. */
class MovedClock {
  #movedMs = 0;

  advance(durationMs: number): void {
    this.#movedMs += durationMs;
  }

  nowMs(): number {
    return Date.now() + this.#movedMs;
  }

  monotonicMs(): number {
    return performance.now() + this.#movedMs;
  }
}

function tokenOf(reply: Reply): string | null {
  const [, token = null] =
    /^repsync_session=([^;]+); (.*)$/.exec(reply.headers.get("set-cookie") ?? "") ?? [];
  return token;
}

function claimsOf(token: string | null): Record<string, unknown> {
  return JSON.parse(Buffer.from(token?.split(".")[1] ?? "", "base64url").toString());
}

onReputationBackends("the session cookie", (backend) => {
  async function signIn() {
    const clock = new MovedClock();
    const time = { clock, timer: new SystemTimer() };
    const app = await startApp({ backend, env: ADMIN_ENV, time });
    const token = tokenOf(await app.send("/v1/sessions", jsonBody(CREDENTIALS)));
    const ask = (path: string, cookie = token, method = "GET") =>
      app.send(path, {
        method,
        headers: { Cookie: `repsync_session=${cookie}`, "Sec-Fetch-Site": "same-origin" },
      });
    return { app, clock, token, ask };
  }

  test("D-9.3 a good request with a token older than 10 minutes is answered with a fresh cookie of the same session", async () => {
    const { app, clock, token, ask } = await signIn();
    clock.advance(9 * MINUTE_MS);
    expect((await ask("/v1/me")).headers.has("set-cookie")).toBe(false);
    clock.advance(2 * MINUTE_MS);
    for (const path of ["/v1/me/nothing", "/v1/me/consents?limit=0"]) {
      expect([path, (await ask(path)).headers.has("set-cookie")]).toEqual([path, false]);
    }
    const bearer = { Authorization: `Bearer ${token}` };
    for (const headers of [bearer, { ...bearer, Cookie: `repsync_session=${token}` }]) {
      const reply = await app.send("/v1/me", { headers });
      expect([reply.status, reply.headers.has("set-cookie")]).toEqual([200, false]);
    }
    for (const path of ["/v1/me", "/v1/me/consents", "/api/v1/sync/runs"]) {
      const reply = await ask(path);
      const fresh = tokenOf(reply);
      expect([path, reply.status]).toEqual([path, 200]);
      expect(reply.headers.get("set-cookie")).toBe(`repsync_session=${fresh}; ${RULES}`);
      const { iat, exp, jti, auth_time } = claimsOf(fresh);
      expect(Number(exp) - Number(iat)).toBe(3_600);
      expect([jti, auth_time]).toEqual([claimsOf(token)["jti"], claimsOf(token)["auth_time"]]);
    }
    // The old one is good until its hour is over.
    const fresh = tokenOf(await ask("/v1/me"));
    clock.advance(50 * MINUTE_MS);
    expect((await ask("/v1/me")).status).toBe(401);
    expect((await ask("/v1/me", fresh)).status).toBe(200);
    const ended = await ask("/v1/sessions/current", fresh, "DELETE");
    expect(ended.headers.get("set-cookie")).toBe(
      "repsync_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
    );
    for (const each of [token, fresh]) expect((await ask("/v1/me", each)).status).toBe(401);
  });

  test("D-9.3 a page that polls stays signed in for 12 hours, and no longer than an hour after them", async () => {
    const { clock, token, ask } = await signIn();
    let cookie = token;
    let renewals = 0;
    for (let minutes = 30; minutes < 12 * 60; minutes += 30) {
      clock.advance(30 * MINUTE_MS);
      const fresh = tokenOf(await ask("/v1/me", cookie));
      if (fresh !== null) renewals++;
      cookie = fresh ?? cookie;
    }
    expect(renewals).toBe(23);
    clock.advance(31 * MINUTE_MS);
    const late = await ask("/v1/me", cookie);
    expect([late.status, tokenOf(late)]).toEqual([200, null]);
    clock.advance(30 * MINUTE_MS);
    expect((await ask("/v1/me", cookie)).status).toBe(401);
  });
});

describe("GET /v1/signup", () => {
  test("D-9.3 tells who may sign up and in, and whether anybody administers", async () => {
    const open = await startApp();
    expect(dataOf(await open.send("/v1/signup"))).toEqual({
      enabled: true,
      identity_provider: null,
      administrator_exists: false,
    });
    const provider = {
      JWT_JWKS_URL: "http://127.0.0.1:9/keys",
      JWT_ISSUER: "https://id.example.com/",
      JWT_AUDIENCE: "repsync",
    };
    const env = { ...ADMIN_ENV, ...provider, SIGNUP_ENABLED: "false" };
    const closed = await startApp({ env });
    expect(dataOf(await closed.send("/v1/signup"))).toEqual({
      enabled: false,
      identity_provider: "https://id.example.com/",
      administrator_exists: true,
    });
  });
});

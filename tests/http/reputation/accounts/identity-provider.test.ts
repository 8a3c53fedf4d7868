// Tokens of a foreign identity provider, which is a real server here. D-5.4.

import { describe, expect, test } from "bun:test";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { SystemTimer } from "../../../../src/adapters/system/system.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { serveLocally } from "../../support/serve-locally.ts";
import { startProvider } from "../../support/start-provider.ts";
import { type SyncApp, startApp } from "../../support/sync-app.ts";
import { ADMIN_ENV, dataOf, jsonBody, lookUp, PASSWORD, Person, releaseName } from "../people.ts";

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const codeOf = async (app: SyncApp, token: string) => {
  const reply = await app.send("/v1/me", bearer(token));
  return reply.status === 200 ? 200 : reply.json["code"];
};

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const payloadOf = (token: string): JWTPayload =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

/** A token that brings the key it is to be verified with, and names an address that has it. */
async function withOwnKey(of: { publicKey: CryptoKey; privateKey: CryptoKey; claims: JWTPayload }) {
  const jwk = await exportJWK(of.publicKey);
  const header = { alg: "RS256", kid: "key-1", jwk, jku: "http://127.0.0.1:9/keys" };
  return await new SignJWT(of.claims).setProtectedHeader(header).sign(of.privateKey);
}

/** The order of the curve P-256. */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The same token with the other signature that is as good: of `s` and `order - s` both verify. */
function withOtherSignature(token: string): string {
  const [head, payload, signature = ""] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const s = P256_ORDER - BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  const other = Buffer.concat([
    bytes.subarray(0, 32),
    Buffer.from(s.toString(16).padStart(64, "0"), "hex"),
  ]);
  return `${head}.${payload}.${other.toString("base64url")}`;
}

describe("identity provider", () => {
  test.each(["ES256", "RS256", "EdDSA"])(
    "D-5.4 a good %s token makes an account on the free plan at its first use",
    async (algorithm) => {
      const { env, sign } = await startProvider(algorithm);
      const app = await startApp({ env });
      const token = await sign({ sub: "Ünï côde@x", role: "administrator" });
      const both = await Promise.all([
        app.send("/v1/me", bearer(token)),
        app.send("/v1/me", bearer(token)),
      ]);
      for (const reply of both) {
        expect(reply.status).toBe(200);
        expect(dataOf(reply)).toEqual({
          username: "Ünï côde@x",
          email: "",
          plan: "free",
          role: "user",
        });
      }
    },
  );

  test("D-5.4 the owner of a synced profile manages its consents", async () => {
    const { env, sign } = await startProvider();
    const app = await startApp({ env });
    await app.push("profiles", { records: [{ username: "Cleo 7", bio: "synced" }] });
    const caller = await Person.signUp(app, "caller");
    const key = await caller.issueKey();
    const token = await sign({ sub: "Cleo 7" });
    const grant = { ...jsonBody({ purpose: "profile_lookup" }), ...bearer(token) };
    expect((await app.send("/v1/me/consents", grant)).status).toBe(201);
    const reply = await lookUp(app, key, { username: "Cleo 7", rest: "" });
    expect(dataOf(reply)).toMatchObject({ username: "Cleo 7", bio: "synced" });
  });

  test("D-8.8 a suspended account's tokens of its provider are refused", async () => {
    const { env, sign } = await startProvider();
    const app = await startApp({ env: { ...env, ...ADMIN_ENV } });
    const token = await sign({ sub: "cleo" });
    expect(await codeOf(app, token)).toBe(200);
    const root = await Person.signIn(app, "root");
    const act = (name: string) => root.send(`/v1/admin/accounts/cleo/${name}`, { method: "POST" });
    expect((await act("suspend")).status).toBe(200);
    expect(await codeOf(app, token)).toBe("account_suspended");
    expect(await codeOf(app, await sign({ sub: "cleo" }))).toBe("account_suspended");
    expect((await act("restore")).status).toBe(200);
    expect(await codeOf(app, token)).toBe(200);
    const reset = jsonBody({ new_password: PASSWORD }, "PUT");
    const { status } = await root.send("/v1/admin/accounts/cleo/password", reset);
    expect(status).toBe(409);
  });

  test.each(["logout+jwt", "LOGOUT+JWT", "application/logout+jwt", "Application/Logout+JWT"])(
    "D-11.8.3 a token of the type %s says that a session ended, and begins none",
    async (typ) => {
      const { env, sign } = await startProvider();
      const app = await startApp({ env });
      const ofType = (name: string) => sign({ sub: "cleo" }, undefined, undefined, { typ: name });
      expect(await codeOf(app, await ofType(typ))).toBe("token_invalid");
      expect(await codeOf(app, await ofType("at+jwt"))).toBe(200);
      expect(await codeOf(app, await ofType("JWT"))).toBe(200);
    },
  );

  test("D-11.8.3 a token may be issued 60 s from now and no later: it would outlive an erasure", async () => {
    const { env, sign } = await startProvider();
    const clock = new FakeClock();
    const app = await startApp({ env, time: { clock, timer: new SystemTimer() } });
    const atSeconds = Math.floor(clock.nowMs() / 1000);
    const issued = (seconds: number) =>
      sign({ sub: "cleo", iat: atSeconds + seconds, exp: atSeconds + 10_000_000 });
    expect(await codeOf(app, await issued(61))).toBe("token_invalid");
    expect(await codeOf(app, await issued(1_000_000))).toBe("token_invalid");
    expect(await codeOf(app, await issued(60))).toBe(200);
  });

  test("D-5.4 a username belongs to the issuer whose account came first", async () => {
    const { env, sign } = await startProvider();
    const app = await startApp({ env });
    await Person.signUp(app, "ana");
    expect(await codeOf(app, await sign({ sub: "ana" }))).toBe("forbidden");
    expect(await codeOf(app, await sign({ sub: "bea" }))).toBe(200);
    const taken = { username: "bea", email: "bea@example.com", password: PASSWORD };
    const reply = await app.send("/v1/signup", jsonBody(taken));
    expect([reply.status, reply.json["code"]]).toEqual([409, "username_taken"]);
    const signIn = await app.send(
      "/v1/sessions",
      jsonBody({ username: "bea", password: PASSWORD }),
    );
    expect(signIn.status).toBe(401);
  });

  test("D-5.4 signature, algorithm, issuer, audience, sub and times have to be right", async () => {
    const { env, sign, publicJwk } = await startProvider("RS256");
    const app = await startApp({ env });
    const other = await generateKeyPair("RS256", { extractable: true });
    // The public key as if it were a shared secret: what algorithms that are not pinned fall for.
    const asSecret = new TextEncoder().encode(JSON.stringify(publicJwk));
    const past = Math.floor(Date.now() / 1000) - 60;
    const good = await sign({ sub: "x" });
    const cases: [string, unknown][] = [
      [await sign({ sub: "x" }, other.privateKey), "token_invalid"],
      [await sign({ sub: "x" }, asSecret, "HS256"), "token_invalid"],
      [`${base64({ alg: "none", kid: "key-1" })}.${good.split(".")[1]}.`, "token_invalid"],
      [`${good.split(".").slice(0, 2).join(".")}.`, "token_invalid"],
      [await withOwnKey({ ...other, claims: payloadOf(good) }), "token_invalid"],
      [await sign({ sub: "x", iss: "https://other.example.com/" }), "token_invalid"],
      [await sign({ sub: "x", iss: "repsync", aud: "repsync" }), "token_invalid"],
      [await sign({ sub: "x", aud: "other" }), "token_invalid"],
      [await sign({}), "token_invalid"],
      [await sign({ sub: "" }), "token_invalid"],
      [await sign({ sub: "x".repeat(201) }), "token_invalid"],
      [await sign({ sub: 5 as never }), "token_invalid"],
      [await sign({ sub: "x", exp: undefined as never }), "token_invalid"],
      [await sign({ sub: "x", exp: past }), "token_expired"],
      [await sign({ sub: "x", nbf: past + 3_600 }), "token_invalid"],
      [await sign({ sub: "x" }), 200],
    ];
    for (const [i, [token, expected]] of cases.entries()) {
      expect([i, await codeOf(app, token)]).toEqual([i, expected]);
    }
  });

  test("D-5.4 a token of the service itself that has expired is told so, as without a provider", async () => {
    const { env } = await startProvider();
    const clock = new FakeClock();
    const app = await startApp({ env, time: { clock, timer: new SystemTimer() } });
    const { token } = await Person.signUp(app, "ana");
    clock.advance(3_599_000);
    expect(await codeOf(app, token)).toBe(200);
    clock.advance(1_000);
    expect(await codeOf(app, token)).toBe("token_expired");
  });

  test.each([
    ["a name that is not known", "http://id.invalid/keys"],
    ["a server that speaks no TLS", "https"],
    ["nobody", "http://127.0.0.1:9/keys"],
  ])("D-5.4, D-5.4.6 a provider at %s is 503", async (_, address) => {
    const { env, sign } = await startProvider();
    const url = address === "https" ? env.JWT_JWKS_URL.replace("http:", "https:") : address;
    const app = await startApp({ env: { ...env, JWT_JWKS_URL: url } });
    expect(await codeOf(app, await sign({ sub: "x" }))).toBe("unavailable");
  });

  test.each([
    ["ES256", { x: "!!!" }],
    ["ES256", { y: "AAAA" }],
    ["RS256", { n: "!!!" }],
    ["RS256", { n: undefined, e: undefined }],
  ])(
    "D-5.4, D-5.4.6 a token that names a damaged %s key is none: %j",
    async (algorithm, damage) => {
      const { env, sign } = await startProvider(algorithm, damage);
      const app = await startApp({ env });
      expect(await codeOf(app, await sign({ sub: "x" }))).toBe("token_invalid");
    },
  );

  test("D-5.4 of several keys that fit a token the right one is found", async () => {
    const { env, sign, publicJwk } = await startProvider();
    const other = await generateKeyPair("ES256", { extractable: true });
    const otherJwk = { ...(await exportJWK(other.publicKey)), kid: "key-1", alg: "ES256" };
    const keys = [otherJwk, publicJwk, publicJwk];
    const JWT_JWKS_URL = serveLocally(() => Response.json({ keys }));
    const app = await startApp({ env: { ...env, JWT_JWKS_URL } });
    expect(await codeOf(app, await sign({ sub: "x" }))).toBe(200);
    expect(await codeOf(app, await sign({ sub: "x", exp: 1 }))).toBe("token_expired");
    const stranger = await generateKeyPair("ES256", { extractable: true });
    expect(await codeOf(app, await sign({ sub: "x" }, stranger.privateKey))).toBe("token_invalid");
  });

  test("D-6.3, D-5.4.5 signing out ends a token that never expires", async () => {
    const { env, sign } = await startProvider();
    const app = await startApp({ env });
    const token = await sign({ sub: "x", exp: 9_999_999_999_999 });
    expect(await codeOf(app, token)).toBe(200);
    const out = await app.send("/v1/sessions/current", { method: "DELETE", ...bearer(token) });
    expect(out.status).toBe(200);
    expect(await codeOf(app, token)).toBe("token_invalid");
  });

  test("D-5.4 keys are fetched once for many tokens, and a provider that is down is 503", async () => {
    const { env, sign, requests } = await startProvider();
    requests.isDown = true;
    const app = await startApp({ env });
    const token = await sign({ sub: "x" });
    const down = await app.send("/v1/me", bearer(token));
    expect([down.status, down.json["code"]]).toEqual([503, "unavailable"]);
    expect(down.headers.has("retry-after")).toBe(true);
    requests.isDown = false;
    const before = requests.count;
    for (let i = 0; i < 5; i++) expect(await codeOf(app, token)).toBe(200);
    expect(requests.count - before).toBe(1);
  });

  test("D-5.4 a provider whose reply has no list of keys is 503", async () => {
    const { env, sign } = await startProvider();
    const JWT_JWKS_URL = serveLocally(() => Response.json({}));
    const app = await startApp({ env: { ...env, JWT_JWKS_URL } });
    expect(await codeOf(app, await sign({ sub: "x" }))).toBe("unavailable");
  });

  test("D-5.4, D-6.3, D-5.4.5 signing out ends the token at once, however its signature is written, and no other", async () => {
    const { env, sign } = await startProvider("ES256");
    const app = await startApp({ env });
    const [token, other] = [await sign({ sub: "x" }), await sign({ sub: "x", jti: "another" })];
    expect(await codeOf(app, withOtherSignature(token))).toBe(200);
    const ended = await app.send("/v1/sessions/current", { method: "DELETE", ...bearer(token) });
    expect([ended.status, dataOf(ended)]).toEqual([200, { status: "ended" }]);
    for (const refused of [token, withOtherSignature(token)]) {
      expect(await codeOf(app, refused)).toBe("token_invalid");
    }
    expect(await codeOf(app, other)).toBe(200);
    // What has ended stays so, also for an account that is made anew.
    await app.send("/v1/me", { method: "DELETE", ...bearer(other) });
    expect(await codeOf(app, token)).toBe("token_invalid");
    const later = await sign({ sub: "x", jti: "later" });
    expect(await codeOf(app, later)).toBe(200);
    expect(await codeOf(app, token)).toBe("token_invalid");
  });

  test("D-8.7 ending all sessions ends every token of the provider for the person, also one not seen before", async () => {
    const { env, sign } = await startProvider();
    const clock = new FakeClock();
    const app = await startApp({ env, time: { clock, timer: new SystemTimer() } });
    const nowSeconds = clock.nowMs() / 1000;
    const issued = (seconds: number, claims: JWTPayload = {}) =>
      sign({ sub: "x", iat: nowSeconds + seconds, exp: 9_999_999_999, ...claims });
    const [asking, seen] = [await issued(0), await issued(0, { jti: "seen" })];
    const other = await issued(0, { sub: "y" });
    for (const token of [asking, seen, other]) expect(await codeOf(app, token)).toBe(200);
    const ended = await app.send("/v1/sessions", { method: "DELETE", ...bearer(asking) });
    expect([ended.status, dataOf(ended)]).toEqual([200, { status: "ended" }]);
    const unseen = [await issued(-600), await issued(0, { jti: "unseen" })];
    const timeless = await issued(0, { iat: undefined as never });
    for (const token of [asking, seen, ...unseen, timeless]) {
      expect(await codeOf(app, token)).toBe("token_invalid");
    }
    expect(await codeOf(app, other)).toBe(200);
    expect(await codeOf(app, await issued(1))).toBe(200);
  });

  test("D-8.4, D-8.7 ending all sessions while the clock was ahead shuts nobody out, and still ends the token that asks", async () => {
    const { env, sign } = await startProvider();
    const clock = new FakeClock("2027-03-01T12:00:00Z");
    const app = await startApp({ env, time: { clock, timer: new SystemTimer() } });
    const issued = (claims: JWTPayload = {}) =>
      sign({
        sub: "x",
        iat: Date.parse("2026-03-01T12:00:00Z") / 1000,
        exp: 9_999_999_999,
        ...claims,
      });
    const asking = await issued();
    const ended = await app.send("/v1/sessions", { method: "DELETE", ...bearer(asking) });
    expect(ended.status).toBe(200);
    clock.set("2026-03-01T12:00:00Z");
    expect(await codeOf(app, asking)).toBe("token_invalid");
    expect(await codeOf(app, await issued({ jti: "fresh" }))).toBe(200);
  });

  test("D-8.2 a token from before the erasure of its person, or without a time, is refused, now and later", async () => {
    const { env, sign } = await startProvider();
    const app = await startApp({ env });
    const now = Math.floor(Date.now() / 1000);
    const old = await sign({ sub: "x", iat: now - 1 });
    const timeless = await sign({ sub: "x", iat: undefined as never });
    expect(await codeOf(app, timeless)).toBe(200);
    expect((await app.send("/v1/me", { method: "DELETE", ...bearer(old) })).status).toBe(200);
    for (const token of [old, timeless]) expect(await codeOf(app, token)).toBe("token_invalid");
    expect(await codeOf(app, await sign({ sub: "x", iat: now + 60 }))).toBe(200);
    for (const token of [old, timeless]) expect(await codeOf(app, token)).toBe("token_invalid");
  });

  test.each(["released", "taken"])(
    "D-8.4, D-8.2 an erasure made while the clock was ahead shuts nobody out of a name that is %s",
    async (state) => {
      const { env, sign } = await startProvider();
      const clock = new FakeClock("2027-03-01T12:00:00Z");
      const time = { clock, timer: new SystemTimer() };
      const app = await startApp({ env: { ...env, ...ADMIN_ENV }, time });
      const issuedAt = (at: string) =>
        sign({ sub: "x", iat: Date.parse(at) / 1000, exp: 9_999_999_999 });
      const ahead = bearer(await issuedAt("2027-03-01T11:00:00Z"));
      expect((await app.send("/v1/me", { method: "DELETE", ...ahead })).status).toBe(200);
      clock.set("2026-03-01T12:00:00Z");
      if (state === "released") await releaseName(app, "x");
      expect(await codeOf(app, await issuedAt("2026-03-01T12:00:00Z"))).toBe(200);
      const timeless = await sign({ sub: "x", iat: undefined as never, exp: 9_999_999_999 });
      expect(await codeOf(app, timeless)).toBe("token_invalid");
    },
  );

  test("D-5.5, D-5.4.7 an erased account of an identity provider is made anew by its next token", async () => {
    const { env, sign } = await startProvider();
    const app = await startApp({ env });
    const token = await sign({ sub: "x" });
    await app.send("/v1/me/consents", {
      ...jsonBody({ purpose: "profile_lookup" }),
      ...bearer(token),
    });
    await app.send("/v1/me", { method: "DELETE", ...bearer(token) });
    const next = await sign({ sub: "x" });
    const list = await app.send("/v1/me/consents", bearer(next));
    expect(dataOf(list)).toEqual({ items: [], next_cursor: null });
  });
});

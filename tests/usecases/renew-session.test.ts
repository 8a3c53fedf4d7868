// How long a session of a browser goes on. D-9.3.
import { expect, test } from "bun:test";
import { JoseTokenIssuer } from "../../src/adapters/jose/jose-tokens.ts";
import type { TokenClaims } from "../../src/ports/crypto/crypto.ts";
import type { Identity } from "../../src/usecases/reputation/accounts/identity.ts";
import { renewSession } from "../../src/usecases/reputation/accounts/sessions.ts";
import { makeAccount, People } from "../repositories/support/people.ts";
import { accountDeps } from "../support/account-deps.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A session that has just begun. */
async function openSession() {
  const clock = new FakeClock("2026-03-01T12:00:00Z");
  const people = new People(ownDocuments(clock));
  const { sessions } = people;
  await people.accounts.create(makeAccount("ana"));
  const tokens = new JoseTokenIssuer("0123456789abcdef0123456789abcdef", clock);
  const signedInAtMs = clock.nowMs();
  const expiresAtMs = signedInAtMs + HOUR_MS;
  await people.begin("stored", "ana", expiresAtMs);
  const claims: TokenClaims = {
    ...{ subject: "ana", role: "user", sessionId: "session-1" },
    ...{ signedInAtMs, issuedAtMs: signedInAtMs, expiresAtMs },
  };
  const renew = async (of: TokenClaims) => {
    const session = { kind: "own", id: "stored", claims: of } as const;
    const token = await renewSession(accountDeps({ sessions, tokens, clock }), {
      role: "user",
      session,
    } as Identity);
    if (token === null) return null;
    const renewed = await tokens.verify(token);
    if (typeof renewed === "string") throw new Error(renewed);
    return renewed;
  };
  return { clock, people, sessions, claims, renew };
}

test("D-9.3 a token is renewed once it is older than 10 minutes, and the fresh one is good for an hour", async () => {
  const { clock, people, claims, renew } = await openSession();
  clock.advance(10 * MINUTE_MS);
  expect(await renew(claims)).toBeNull();
  clock.advance(1_000);
  const renewed = await renew(claims);
  expect(renewed).toEqual({
    ...claims,
    issuedAtMs: clock.nowMs(),
    expiresAtMs: clock.nowMs() + HOUR_MS,
  });
  // The session lives as long as the fresh token.
  clock.advance(HOUR_MS - 1_000);
  expect(await people.isKnown("stored", "ana")).toBe(true);
  clock.advance(1_000);
  expect(await people.isKnown("stored", "ana")).toBe(false);
});

test("D-9.3 renewals go on until 12 hours after signing in", async () => {
  const { clock, claims, renew } = await openSession();
  let token = claims;
  for (let minutes = 50; minutes < 12 * 60; minutes += 50) {
    clock.advance(50 * MINUTE_MS);
    const renewed = await renew(token);
    expect([minutes, renewed?.signedInAtMs]).toEqual([minutes, claims.signedInAtMs]);
    token = renewed ?? token;
  }
  // 11 h 40 min have passed.
  clock.advance(20 * MINUTE_MS - 1_000);
  const last = await renew(token);
  expect(last?.expiresAtMs).toBe(clock.nowMs() + HOUR_MS);
  clock.advance(1_000);
  expect(await renew(token)).toBeNull();
  clock.advance(30 * MINUTE_MS);
  expect(await renew(last ?? token)).toBeNull();
});

test("D-9.3, D-6.3 a session that has ended is not renewed, and does not begin again", async () => {
  const { clock, people, sessions, claims, renew } = await openSession();
  clock.advance(20 * MINUTE_MS);
  await sessions.end({ username: "ana", id: "stored" });
  expect(await renew(claims)).toBeNull();
  expect(await people.isKnown("stored", "ana")).toBe(false);
});

test("D-9.3 a session of an identity provider is not renewed here", async () => {
  const { clock, sessions } = await openSession();
  const tokens = new JoseTokenIssuer("0123456789abcdef0123456789abcdef", clock);
  const session = { kind: "foreign", endId: "x", expiresAtMs: clock.nowMs() + HOUR_MS } as const;
  clock.advance(30 * MINUTE_MS);
  const identity = { role: "user", session } as Identity;
  expect(await renewSession(accountDeps({ sessions, tokens, clock }), identity)).toBeNull();
});

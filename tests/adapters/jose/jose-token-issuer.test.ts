import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { JoseTokenIssuer } from "../../../src/adapters/jose/jose-tokens.ts";
import type { TokenClaims } from "../../../src/ports/crypto/crypto.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const NOW_SECONDS = 1_772_366_400;

const CLAIMS: TokenClaims = {
  subject: "ana é😀",
  role: "administrator",
  sessionId: "session-1",
  signedInAtMs: (NOW_SECONDS - 900) * 1000,
  issuedAtMs: NOW_SECONDS * 1000,
  expiresAtMs: (NOW_SECONDS + 3600) * 1000,
};

const PAYLOAD = {
  iss: "repsync",
  aud: "repsync",
  sub: "ana",
  role: "user",
  jti: "session-1",
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 3600,
};

function makeIssuer(secret = SECRET) {
  const clock = new FakeClock("2026-03-01T12:00:00Z");
  return { clock, tokens: new JoseTokenIssuer(secret, clock) };
}

describe("tokens", () => {
  test("D-5.4 issue() makes a JWT with the claims of the decision, signed with HS256", async () => {
    const token = await makeIssuer().tokens.issue({
      ...CLAIMS,
      issuedAtMs: NOW_SECONDS * 1000 + 999,
    });
    const [header = "", payload = "", signature] = token.split(".");
    expect(decoded(header)).toEqual({ alg: "HS256", typ: "JWT" });
    expect(decoded(payload)).toEqual({
      ...PAYLOAD,
      sub: "ana é😀",
      role: "administrator",
      auth_time: NOW_SECONDS - 900,
    });
    expect(signature).toBe(sign("sha256", `${header}.${payload}`));
  });

  test("D-5.4 verify() gives the claims of a token of any instance with the secret", async () => {
    const token = await makeIssuer().tokens.issue(CLAIMS);
    expect(await makeIssuer().tokens.verify(token)).toEqual(CLAIMS);
    expect(await makeIssuer(`${SECRET}x`).tokens.verify(token)).toBe("token_invalid");
  });

  test("D-5.4, D-9.3 verify() takes a token that another library made; without a time of signing in, it is that of the token", async () => {
    const verified = await makeIssuer().tokens.verify(forged({}));
    const signedInAtMs = CLAIMS.issuedAtMs;
    expect(verified).toEqual({ ...CLAIMS, subject: "ana", role: "user", signedInAtMs });
    const renewed = await makeIssuer().tokens.verify(
      forged({ payload: { auth_time: NOW_SECONDS - 60 } }),
    );
    expect(renewed).toMatchObject({ signedInAtMs: (NOW_SECONDS - 60) * 1000 });
    const wrong = forged({ payload: { auth_time: "x" } });
    expect(await makeIssuer().tokens.verify(wrong)).toBe("token_invalid");
  });

  test("D-5.4 a token is expired from its end on, by the service's clock", async () => {
    const { clock, tokens } = makeIssuer();
    const token = await tokens.issue(CLAIMS);
    clock.advance(3_599_999);
    expect(await tokens.verify(token)).toEqual(CLAIMS);
    clock.advance(1);
    expect(await tokens.verify(token)).toBe("token_expired");
  });

  test("D-5.4 an expired token that is wrong in another way is invalid, not expired", async () => {
    const { tokens } = makeIssuer();
    const exp = NOW_SECONDS - 1;
    expect(await tokens.verify(forged({ payload: { exp } }))).toBe("token_expired");
    expect(await tokens.verify(forged({ payload: { exp, aud: "other" } }))).toBe("token_invalid");
    expect(await tokens.verify(forged({ payload: { exp }, secret: "x" }))).toBe("token_invalid");
  });

  test("D-5.4 a token with a changed byte anywhere is invalid", async () => {
    const { tokens } = makeIssuer();
    const token = await tokens.issue(CLAIMS);
    for (let i = 0; i < token.length; i++) {
      const other = token[i] === "A" ? "Q" : "A";
      const changed = token.slice(0, i) + other + token.slice(i + 1);
      // The last character of a part may hold bits that belong to no byte.
      if (decodedBytes(changed) === decodedBytes(token)) continue;
      expect(await tokens.verify(changed)).toBe("token_invalid");
    }
  });

  const wrong: Readonly<Record<string, Forgery>> = {
    "alg none without signature": { header: { alg: "none" }, hash: null },
    "alg none with a signature": { header: { alg: "none" } },
    "alg HS384": { header: { alg: "HS384" }, hash: "sha384" },
    "alg HS512": { header: { alg: "HS512" }, hash: "sha512" },
    "alg RS256 signed with the secret": { header: { alg: "RS256" } },
    "alg in other letters": { header: { alg: "hs256" } },
    "no alg": { header: { alg: undefined } },
    "a critical header": { header: { crit: ["x"], x: 1 } },
    "a payload that is not encoded": { header: { b64: false, crit: ["b64"] } },
    "another issuer": { payload: { iss: "other" } },
    "no issuer": { payload: { iss: undefined } },
    "another audience": { payload: { aud: "other" } },
    "no audience": { payload: { aud: undefined } },
    "no audience in its list": { payload: { aud: ["other"] } },
    "no exp": { payload: { exp: undefined } },
    "an exp that is text": { payload: { exp: String(NOW_SECONDS + 3600) } },
    "no iat": { payload: { iat: undefined } },
    "an iat that is text": { payload: { iat: "now" } },
    "no sub": { payload: { sub: undefined } },
    "a sub that is a number": { payload: { sub: 5 } },
    "no jti": { payload: { jti: undefined } },
    "a jti that is a list": { payload: { jti: ["session-1"] } },
    "no role": { payload: { role: undefined } },
    "an unknown role": { payload: { role: "root" } },
    "a time before which it is not good": { payload: { nbf: NOW_SECONDS + 60 } },
    "another secret": { secret: "another secret" },
  };
  for (const [what, forgery] of Object.entries(wrong)) {
    test(`D-5.4 a token with ${what} is invalid`, async () => {
      expect(await makeIssuer().tokens.verify(forged(forgery))).toBe("token_invalid");
    });
  }

  test("D-5.4 what is no JWT at all is invalid", async () => {
    const { tokens } = makeIssuer();
    const token = await tokens.issue(CLAIMS);
    const [header, payload, signature] = token.split(".");
    const texts = ["", ".", "..", "a.b.c", `${token}.`, ` ${token}`, `${header}.${payload}`];
    const more = [`${header}.${payload}.`, `.${payload}.${signature}`, `${header}..${signature}`];
    for (const text of [...texts, ...more, "rep_live_x", "\0", "é".repeat(10_000)]) {
      expect(await tokens.verify(text)).toBe("token_invalid");
    }
  });
});

/** How a token differs from a good one. Fields that are undefined are left out. */
interface Forgery {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly secret?: string;
  /** Of the HMAC; null for an empty signature. */
  readonly hash?: string | null;
}

/** A token made by hand. */
function forged({ header, payload, secret = SECRET, hash = "sha256" }: Forgery): string {
  const parts = [
    { alg: "HS256", typ: "JWT", ...header },
    { ...PAYLOAD, ...payload },
  ];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const text = signed.join(".");
  return `${text}.${hash === null ? "" : sign(hash, text, secret)}`;
}

function sign(hash: string, text: string, secret = SECRET): string {
  return createHmac(hash, secret).update(text).digest("base64url");
}

function decoded(part: string): unknown {
  return JSON.parse(Buffer.from(part, "base64url").toString());
}

function decodedBytes(token: string): string {
  return token
    .split(".")
    .map((part) => Buffer.from(part, "base64url").toString("hex"))
    .join(".");
}

import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
  SignJWT,
} from "jose";
import { OWN_ISSUER, ROLES } from "../../domain/reputation/accounts/account.ts";
import { AppError } from "../../domain/shared/errors.ts";
import type {
  ForeignIdentity,
  IdentityProvider,
  TokenClaims,
  TokenIssuer,
  TokenProblem,
} from "../../ports/crypto/crypto.ts";
import type { Clock } from "../../ports/runtime/runtime.ts";

const OWN_ALGORITHM = "HS256";

export class JoseTokenIssuer implements TokenIssuer {
  readonly #secret: Uint8Array;
  readonly #clock: Pick<Clock, "nowMs">;

  constructor(secret: string, clock: Pick<Clock, "nowMs">) {
    this.#secret = new TextEncoder().encode(secret);
    this.#clock = clock;
  }

  async issue(claims: TokenClaims): Promise<string> {
    const { subject, role, sessionId, signedInAtMs, issuedAtMs, expiresAtMs } = claims;
    return await new SignJWT({ role, auth_time: Math.floor(signedInAtMs / 1000) })
      .setProtectedHeader({ alg: OWN_ALGORITHM, typ: "JWT" })
      .setIssuer(OWN_ISSUER)
      .setAudience(OWN_ISSUER)
      .setSubject(subject)
      .setIssuedAt(Math.floor(issuedAtMs / 1000))
      .setExpirationTime(Math.floor(expiresAtMs / 1000))
      .setJti(sessionId)
      .sign(this.#secret);
  }

  async verify(token: string): Promise<TokenClaims | TokenProblem> {
    try {
      const { payload } = await jwtVerify(token, this.#secret, {
        algorithms: [OWN_ALGORITHM],
        issuer: OWN_ISSUER,
        audience: OWN_ISSUER,
        requiredClaims: ["sub", "role", "iat", "exp", "jti"],
        currentDate: new Date(this.#clock.nowMs()),
      });
      const { sub, jti, iat, exp } = payload;
      const role = ROLES.find((known) => known === payload["role"]);
      if (typeof sub !== "string" || typeof jti !== "string") return "token_invalid";
      if (typeof iat !== "number" || typeof exp !== "number") return "token_invalid";
      if (role === undefined) return "token_invalid";
      // An optional claim, as D-5.4 does not name it.
      const { auth_time: signedInAt = iat } = payload;
      if (typeof signedInAt !== "number") return "token_invalid";
      const times = {
        signedInAtMs: signedInAt * 1000,
        issuedAtMs: iat * 1000,
        expiresAtMs: exp * 1000,
      };
      return { subject: sub, role, sessionId: jti, ...times };
    } catch (error) {
      return error instanceof errors.JWTExpired ? "token_expired" : "token_invalid";
    }
  }
}

/** Asymmetric algorithms only: a key that verifies must not be able to sign. */
const FOREIGN_ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
const CLOCK_TOLERANCE_SECONDS = 5;
/** A token issued further ahead would outlive an erasure. D-11.8. */
const MAX_ISSUED_AHEAD_MS = 60_000;
/** The type of tokens that end a session, which must not begin one. */
const LOGOUT_TOKEN = /^(?:application\/)?logout\+jwt$/i;
const KEYS_MAX_AGE_MS = 600_000;
const KEYS_COOLDOWN_MS = 30_000;
const KEYS_TIMEOUT_MS = 5_000;

interface JwksOptions {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  readonly clock: Pick<Clock, "nowMs">;
}

export class JwksIdentityProvider implements IdentityProvider {
  readonly #options: JwksOptions;
  readonly #keys: JWTVerifyGetKey;

  constructor(options: JwksOptions) {
    this.#options = options;
    this.#keys = createRemoteJWKSet(new URL(options.jwksUrl), {
      cacheMaxAge: KEYS_MAX_AGE_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      timeoutDuration: KEYS_TIMEOUT_MS,
      [customFetch]: fetchKeys,
    });
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  async verify(token: string): Promise<ForeignIdentity | "token_invalid" | "token_expired"> {
    const { issuer, audience, clock } = this.#options;
    try {
      const { payload, protectedHeader } = await this.#verified(token, {
        algorithms: FOREIGN_ALGORITHMS,
        issuer,
        audience,
        requiredClaims: ["sub", "exp"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(clock.nowMs()),
      });
      const { sub, exp, iat } = payload;
      if (typeof sub !== "string" || exp === undefined) return "token_invalid";
      if (LOGOUT_TOKEN.test(String(protectedHeader.typ))) return "token_invalid";
      const issuedAtMs = typeof iat === "number" ? iat * 1000 : null;
      const latestMs = clock.nowMs() + MAX_ISSUED_AHEAD_MS;
      if (issuedAtMs !== null && issuedAtMs > latestMs) return "token_invalid";
      const expiresAtMs = (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
      return { subject: sub, issuer, expiresAtMs, issuedAtMs };
    } catch (cause) {
      return refusalOf(cause);
    }
  }

  /** Tries each key that fits: two may have one `kid`, and a token may name none. */
  async #verified(token: string, options: JWTVerifyOptions) {
    try {
      return await jwtVerify(token, this.#keys, options);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const key of error) {
        try {
          return await jwtVerify(token, key, options);
        } catch (refusal) {
          if (!(refusal instanceof errors.JWSSignatureVerificationFailed)) throw refusal;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }
}

/** Marks network errors: jose throws `TypeError` for bad keys too. */
async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(url, options);
  } catch (cause) {
    throw new Error("The keys cannot be fetched", { cause });
  }
}

function refusalOf(cause: unknown): "token_invalid" | "token_expired" {
  if (cause instanceof errors.JWTExpired) return "token_expired";
  if (isTokensFault(cause)) return "token_invalid";
  const message = "The identity provider cannot be reached";
  throw new AppError("store_unavailable", message, { cause });
}

/** False when the keys could not be fetched. */
function isTokensFault(cause: unknown): boolean {
  if (cause instanceof errors.JWKSTimeout || cause instanceof errors.JWKSInvalid) return false;
  if (cause instanceof errors.JOSEError) return cause.code !== "ERR_JOSE_GENERIC";
  // The token names a key that cannot be used.
  if (cause instanceof DOMException) return cause.name === "DataError";
  // A key of another type than the algorithm's, or a signature of another length.
  return cause instanceof TypeError;
}

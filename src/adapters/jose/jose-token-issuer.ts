import { errors, jwtVerify, SignJWT } from "jose";
import { OWN_ISSUER, ROLES } from "../../domain/reputation/accounts/account.ts";
import type { TokenClaims, TokenIssuer, TokenProblem } from "../../ports/crypto/crypto.ts";
import type { Clock } from "../../ports/runtime/runtime.ts";

const ALGORITHM = "HS256";

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
      .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
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
        algorithms: [ALGORITHM],
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

import type { Role } from "../../domain/reputation/accounts/account.ts";

/** Contents of a session token. D-5.4. */
export interface TokenClaims {
  readonly subject: string;
  readonly role: Role;
  readonly sessionId: string;
  /** When the session began: earlier than `issuedAtMs` in a token that renewed it. In whole seconds, as the others. */
  readonly signedInAtMs: number;
  /** Whole seconds; a part of one is cut. */
  readonly issuedAtMs: number;
  /** In whole seconds too. The token is valid until just before it. */
  readonly expiresAtMs: number;
}

export type TokenProblem = "token_invalid" | "token_expired";

/** Tokens of this service: JWTs, HS256, `iss` and `aud` `repsync`. */
export interface TokenIssuer {
  issue(claims: TokenClaims): Promise<string>;

  /**
   * Checks signature, algorithm, issuer, audience and time, for which there is no tolerance. `token_expired` only for a
   * token that is right in all else. Whether the session lives is not checked here.
   */
  verify(token: string): Promise<TokenClaims | TokenProblem>;
}

/** Contents of a token of the identity provider. */
export interface ForeignIdentity {
  /** `sub`. */
  readonly subject: string;
  /** `iss`. */
  readonly issuer: string;
  /** The token is refused from then on, or earlier. */
  readonly expiresAtMs: number;
  /** `iat`; null when the token does not say. */
  readonly issuedAtMs: number | null;
}

/** Tokens of the one foreign identity provider that is configured. D-5.4. */
export interface IdentityProvider {
  /** `iss` of its tokens. */
  readonly issuer: string;

  /**
   * Checks signature (asymmetric algorithms only), issuer, audience and time; `sub` and `exp` are required. Throws
   * `AppError` of kind `store_unavailable` when the provider's keys cannot be fetched.
   */
  verify(token: string): Promise<ForeignIdentity | "token_invalid" | "token_expired">;
}

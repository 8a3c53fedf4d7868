/** What a token of the identity provider says. */
export interface ForeignIdentity {
  /** `sub`. */
  readonly subject: string;
  /** `iss`. */
  readonly issuer: string;
  /** From then on the token is refused, at the latest. */
  readonly expiresAtMs: number;
}

/** Tokens of the one foreign identity provider that is configured. D-5.4. */
export interface IdentityProvider {
  /**
   * Checks signature (asymmetric algorithms only), issuer, audience and time; `sub` and `exp` are required. Throws
   * `AppError` of kind `store_unavailable` when the provider's keys cannot be fetched.
   */
  verify(token: string): Promise<ForeignIdentity | "token_invalid" | "token_expired">;
}

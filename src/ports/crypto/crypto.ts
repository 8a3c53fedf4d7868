import type { Role } from "../../domain/reputation/accounts/account.ts";

export interface Digest {
  /** Lowercase hexadecimal SHA-256 of the bytes, 64 characters. S-4.1.6. The bytes must not change until it settles. */
  sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
}

export interface SecretComparison {
  /** True when both are equal. The time taken does not depend on where they differ. S-5. */
  isEqual(a: Uint8Array, b: Uint8Array): boolean;
}

/** HMAC-SHA-256 (RFC 2104), synchronous because stores call it inside a transaction, and random bytes. */
export interface Mac {
  /** 64 lowercase hexadecimal digits. */
  hmacHex(key: Uint8Array, message: Uint8Array | string): string;

  /** Bytes from a cryptographically secure generator. */
  randomBytes(count: number): Uint8Array;
}

/** Argon2id password hashes in PHC form. Work happens off the event loop. D-5.4. */
export interface PasswordHasher {
  /** A new hash with a salt of its own. The password is not empty. */
  hash(password: string): Promise<string>;

  /** True when the password belongs to the hash. Null stands for a missing account: false, after the same time. */
  verify(password: string, hash: string | null): Promise<boolean>;
}

/** Gzip in both directions (RFC 1952). */
export interface Gzip {
  /** Compresses with `GZIP_LEVEL`. Large inputs leave the event loop free. */
  compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Decompresses one or several members into one body. D-3.5. Throws `AppError` of kind `integrity`, its message starting `gzip
   * decompression failed`, when the input is damaged, cut or followed by anything; `body_too_large` when the output would
   * exceed `maxBytes`, found without keeping the output.
   */
  decompress(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** Contents of a session token. D-5.4. */
export interface TokenClaims {
  readonly subject: string;
  readonly role: Role;
  readonly sessionId: string;
  /** The begin of the session, in whole seconds; earlier than `issuedAtMs` in a renewed token. */
  readonly signedInAtMs: number;
  /** Whole seconds; a part of one is cut. */
  readonly issuedAtMs: number;
  /** A whole second; the token is valid until just before. */
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
  verify(token: string): Promise<ForeignIdentity | TokenProblem>;
}

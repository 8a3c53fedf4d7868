/** SHA-256 of bodies. */
export interface Digest {
  /**
   * Lowercase hexadecimal SHA-256 of the bytes, 64 characters. S-4.1.6. The bytes must not change until it settles.
   */
  sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
}

export interface SecretComparison {
  /** True when both are equal. The time taken does not depend on where they differ. S-5. */
  isEqual(a: Uint8Array, b: Uint8Array): boolean;
}

/** HMAC-SHA-256 (RFC 2104), synchronous because stores call it inside a transaction, and random bytes. */
export interface Mac {
  /** The HMAC as 64 lowercase hexadecimal digits. */
  hmacHex(key: Uint8Array, message: Uint8Array | string): string;

  /** Bytes from a cryptographically secure generator. */
  randomBytes(count: number): Uint8Array;
}

/** Argon2id password hashes in PHC form. Work happens off the event loop. D-5.4. */
export interface PasswordHasher {
  /** A new hash with a salt of its own. The password is not empty. */
  hash(password: string): Promise<string>;

  /**
   * True when the password belongs to the hash. Null stands for a missing account: false, after the same time.
   */
  verify(password: string, hash: string | null): Promise<boolean>;
}

/** Gzip in both directions (RFC 1952). */
export interface Gzip {
  /** Compresses with `GZIP_LEVEL`. Large inputs leave the event loop free. */
  compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Decompresses one or several members into one body. D-3.5.
   * Throws `AppError` of kind `integrity`, its message starting `gzip decompression failed`, when the input is damaged,
   * cut or followed by anything but zeros; `body_too_large` when the output would exceed `maxBytes`, found without
   * keeping the output.
   */
  decompress(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
}

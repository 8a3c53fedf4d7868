/** HMAC-SHA-256 (RFC 2104) and random bytes. */
export interface Mac {
  /** The HMAC as 64 lowercase hexadecimal digits. */
  hmacHex(key: Uint8Array, message: Uint8Array | string): string;

  /** Bytes that nobody can foresee. */
  randomBytes(count: number): Uint8Array;
}

/** SHA-256 and comparison in constant time. */
export interface Digest {
  /** Lowercase hexadecimal SHA-256 of the bytes, 64 characters. S-4.1.6. */
  sha256Hex(bytes: Uint8Array): string;

  /** True when both are equal; the time taken tells nothing about where they differ. S-5. */
  isEqual(a: Uint8Array, b: Uint8Array): boolean;
}

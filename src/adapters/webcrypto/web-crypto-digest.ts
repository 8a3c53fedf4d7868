import type { Digest } from "../../ports/crypto/crypto.ts";

/** SHA-256 by Web Crypto, which Bun, Deno, Node and browsers have; on another thread, and a fifth slower than `node:crypto`. */
export class WebCryptoDigest implements Digest {
  /** Throws `TypeError` where Web Crypto is missing. */
  constructor() {
    if (globalThis.crypto?.subtle !== undefined) return;
    throw new TypeError("Web Crypto is missing: browsers give it to pages from HTTPS or localhost");
  }

  async sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    // Node 20 has no `toHex()`.
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

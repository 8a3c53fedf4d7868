import { createHmac, randomBytes } from "node:crypto";
import type { Mac } from "../../ports/crypto/crypto.ts";

/** HMAC-SHA-256 and random bytes by the runtime's `node:crypto`. */
export class NodeMac implements Mac {
  hmacHex(key: Uint8Array, message: Uint8Array | string): string {
    return createHmac("sha256", key).update(message).digest("hex");
  }

  randomBytes(count: number): Uint8Array {
    return new Uint8Array(randomBytes(count));
  }
}

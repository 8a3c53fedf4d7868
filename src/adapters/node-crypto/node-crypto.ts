// `node:crypto`, as Web Crypto has no synchronous HMAC and no comparison in constant time.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Mac, SecretComparison } from "../../ports/crypto/crypto.ts";

export class NodeMac implements Mac {
  hmacHex(key: Uint8Array, message: Uint8Array | string): string {
    return createHmac("sha256", key).update(message).digest("hex");
  }

  randomBytes(count: number): Uint8Array {
    return new Uint8Array(randomBytes(count));
  }
}

/** Compares digests, as `timingSafeEqual` takes equal lengths only. */
export class NodeSecretComparison implements SecretComparison {
  isEqual(a: Uint8Array, b: Uint8Array): boolean {
    return timingSafeEqual(sha256(a), sha256(b));
  }
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

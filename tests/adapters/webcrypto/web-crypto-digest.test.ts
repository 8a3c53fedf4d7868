import { expect, test } from "bun:test";
import { WebCryptoDigest } from "../../../src/adapters/webcrypto/web-crypto-digest.ts";

test.each([
  [0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  [1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"],
  [1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
])("S-4.1.6 the hash of %p times the letter a is the standard's", async (count, hash) => {
  const bytes = new Uint8Array(count).fill(0x61);
  expect(await new WebCryptoDigest().sha256Hex(bytes)).toBe(hash);
});

test("S-4.1.6 the hash of a part of a buffer is that of the part", async () => {
  const part = new TextEncoder().encode("xabcx").subarray(1, 4);
  expect(await new WebCryptoDigest().sha256Hex(part)).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

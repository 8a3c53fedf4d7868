import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { BunMac } from "../../../src/adapters/bun/bun-mac.ts";
import { NodeMac, NodeSecretComparison } from "../../../src/adapters/node-crypto/node-crypto.ts";
import { checkProperty } from "../../support/seed.ts";

describe.each([NodeMac, BunMac])("HMAC-SHA-256 of %p", (MacOfRuntime) => {
  test("D-5.6, D-6.5 gives the second example of RFC 4231", () => {
    const key = new TextEncoder().encode("Jefe");
    expect(new MacOfRuntime().hmacHex(key, "what do ya want for nothing?")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  test("D-5.6, D-6.5 is that of node:crypto for any keys and messages, in any order", () => {
    const mac = new MacOfRuntime();
    const keys = [0, 1, 32, 63, 64, 65, 200].map((length) => new Uint8Array(length).fill(length));
    const text = fc.string({ unit: "binary", maxLength: 3_000 });
    const message = fc.oneof(text, fc.uint8Array({ maxLength: 5_000 }));
    checkProperty(
      fc.property(fc.constantFrom(...keys), message, (key, value) => {
        const expected = createHmac("sha256", key).update(value).digest("hex");
        expect(mac.hmacHex(key, value)).toBe(expected);
      }),
    );
  });

  test("D-5.6 random bytes are as many as asked for, and others every time", () => {
    const mac = new MacOfRuntime();
    const first = mac.randomBytes(32);
    expect(first.length).toBe(32);
    expect(mac.randomBytes(32)).not.toEqual(first);
  });
});

describe("Comparison in constant time", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const comparison = new NodeSecretComparison();

  test.each([
    ["the key", "the key", true],
    ["", "", true],
    ["the key", "the keY", false],
    ["the key", "the key ", false],
    ["the key", "", false],
  ] as const)("S-5.3 %p and %p are equal: %p", (a, b, isEqual) => {
    expect(comparison.isEqual(bytes(a), bytes(b))).toBe(isEqual);
  });
});

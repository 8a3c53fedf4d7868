import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import {
  API_KEY_PREFIX,
  API_KEY_RANDOM_BYTES,
  apiKeyDisplay,
  apiKeyStatus,
  isWellFormedApiKey,
  makeApiKey,
  planRotation,
  revokedKey,
  type StoredApiKey,
} from "../../../../src/domain/reputation/accounts/api-key.ts";
import { checkProperty } from "../../../support/seed.ts";

const NOW = "2026-03-01T12:00:00Z";
const NOW_MS = Date.parse(NOW);
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const USABLE = { expiresAt: null, revokedAt: null, isRevoked: false };
const STORED: StoredApiKey = {
  id: "key-1",
  username: "ana",
  name: "shop",
  hash: "hash 1",
  prefix: "rep_live_",
  last4: "1111",
  createdAt: "2026-01-01T00:00:00Z",
  expiresAt: "2027-01-01T00:00:00Z",
  revokedAt: null,
  isRevoked: false,
};
const SUCCESSOR = { id: "key-2", hash: "hash 2", prefix: "rep_live_", last4: "2222" };

/** Checksums by Python's zlib.crc32; the last one needs its padding. */
const KEYS = [
  "rep_live_0000000000000000000000000000002C8GjS",
  "rep_live_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz4IlJEz",
  "rep_live_0123456789ABCDEFGHIJKLMNOPQRST4PMbyp",
  "rep_live_UVWXYZabcdefghijklmnopqrstuvwx2VaC6P",
  "rep_live_TheQuickBrownFoxJumps0ver13Dog3LtHDa",
  "rep_live_abcdefghijklmnopqrstuvwxyzABCD4dNndU",
  "rep_live_000000000000000000000000037127000YQf",
];

describe("the text of a key", () => {
  test.each(KEYS)("D-5.6 isWellFormedApiKey() knows %s", (key) => {
    expect(isWellFormedApiKey(key, crc32)).toBe(true);
  });

  test.each(KEYS)("D-5.6 makeApiKey() gives %s from the bytes of its characters", (key) => {
    const bytes = [...key.slice(9, 39)].map((char) => ALPHABET.indexOf(char));
    expect(makeApiKey(Uint8Array.from(bytes), crc32)).toBe(key);
  });

  test("D-5.6 a byte counts by its remainder of 62, and bytes from 248 on are passed over", () => {
    const bytes = [248, 255, 62, 61, 123, 185, 247, 186, ...Array(26).fill(0)];
    expect(makeApiKey(Uint8Array.from(bytes), crc32).slice(9, 15)).toBe("0zzzz0");
  });

  test("D-5.6 every character is equally likely", () => {
    const counts = new Map<string, number>();
    for (let byte = 0; byte < 256; byte++) {
      const bytes = Uint8Array.from([byte, ...Array(30).fill(0)]);
      const first = makeApiKey(bytes, crc32)[9] ?? "";
      if (byte < 248) counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    expect([...counts.keys()].sort().join("")).toBe([...ALPHABET].sort().join(""));
    expect(new Set(counts.values())).toEqual(new Set([4]));
  });

  test("D-5.6 makeApiKey() throws RangeError when the bytes do not suffice", () => {
    expect(() => makeApiKey(new Uint8Array(29), crc32)).toThrow(RangeError);
    expect(() => makeApiKey(new Uint8Array(100).fill(250), crc32)).toThrow(RangeError);
  });

  test("D-5.6 every key that is made is well formed", () => {
    const bytes = fc.uint8Array({ minLength: API_KEY_RANDOM_BYTES, maxLength: 80 });
    checkProperty(
      fc.property(bytes, (random) => {
        fc.pre(random.filter((byte) => byte < 248).length >= 30);
        const key = makeApiKey(random, crc32);
        expect(key).toMatch(/^rep_live_[0-9A-Za-z]{36}$/);
        expect(isWellFormedApiKey(key, crc32)).toBe(true);
      }),
    );
  });

  test("D-5.6 any one changed character makes a key malformed", () => {
    const places = fc.tuple(
      fc.constantFrom(...KEYS),
      fc.nat(44),
      fc.constantFrom(...ALPHABET, "_"),
    );
    checkProperty(
      fc.property(places, ([key, at, char]) => {
        fc.pre(key[at] !== char);
        expect(isWellFormedApiKey(key.slice(0, at) + char + key.slice(at + 1), crc32)).toBe(false);
      }),
      1_000,
    );
  });

  test("D-5.6 other texts are malformed", () => {
    const [key = ""] = KEYS;
    for (const text of [
      "",
      key.slice(9),
      key.slice(0, -1),
      `${key}0`,
      `${key}\n`,
      ` ${key}`,
      key.replace("live", "test"),
      key.toUpperCase(),
      "rep_live_é00000000000000000000000000000000000",
    ]) {
      expect(isWellFormedApiKey(text, crc32)).toBe(false);
    }
  });

  test("D-5.5 prefix and last4 are what a key starts and ends with", () => {
    expect(apiKeyDisplay(KEYS[4] ?? "")).toEqual({ prefix: "rep_live_", last4: "tHDa" });
    expect(API_KEY_PREFIX).toBe("rep_live_");
  });
});

describe("status", () => {
  test("D-5.5 a key is active until it expires or is revoked, both moments included", () => {
    expect(apiKeyStatus(USABLE, NOW_MS)).toBe("active");
    expect(apiKeyStatus({ ...USABLE, expiresAt: NOW }, NOW_MS - 1)).toBe("active");
    expect(apiKeyStatus({ ...USABLE, expiresAt: NOW }, NOW_MS)).toBe("expired");
    expect(apiKeyStatus({ ...USABLE, revokedAt: NOW }, NOW_MS - 1)).toBe("active");
    expect(apiKeyStatus({ ...USABLE, revokedAt: NOW }, NOW_MS)).toBe("revoked");
  });

  test("D-5.5 revoked goes before expired", () => {
    const times = {
      ...USABLE,
      expiresAt: "2026-02-01T00:00:00Z",
      revokedAt: "2026-02-02T00:00:00Z",
    };
    expect(apiKeyStatus(times, Date.parse("2026-02-01T12:00:00Z"))).toBe("expired");
    expect(apiKeyStatus(times, NOW_MS)).toBe("revoked");
  });

  test("D-5.5 revoking is at once, also within an overlap, and keeps the first time", () => {
    const revoke = (key: Partial<StoredApiKey>) => revokedKey({ ...STORED, ...key }, NOW_MS);
    expect(revoke({})).toEqual({ ...STORED, revokedAt: NOW, isRevoked: true });
    expect(revoke({ revokedAt: "2026-03-02T00:00:00Z" }).revokedAt).toBe(NOW);
    expect(revoke({ revokedAt: "2026-02-02T00:00:00Z" }).revokedAt).toBe("2026-02-02T00:00:00Z");
    expect(revoke({ expiresAt: "2026-01-01T00:00:00Z" }).revokedAt).toBe(NOW);
    const once = revoke({});
    expect(revokedKey(once, NOW_MS + 1_000)).toBe(once);
  });

  test("D-5.5 a rotated key is revoked after the overlap", () => {
    const rotate = (overlapSeconds: number, revokedAt: string | null = null) => {
      const rotation = { id: "key-1", successor: SUCCESSOR, overlapSeconds, nowMs: NOW_MS };
      const planned = planRotation({ ...STORED, revokedAt }, rotation);
      expect(planned?.successor).toMatchObject({ revokedAt: null, isRevoked: false });
      return planned?.old;
    };
    expect(rotate(0)).toEqual({ ...STORED, revokedAt: NOW, isRevoked: true });
    const old = { ...STORED, revokedAt: "2026-03-01T13:00:00Z" };
    expect(rotate(3600)).toEqual(old);
    expect(apiKeyStatus(old, NOW_MS + 3_599_999)).toBe("active");
    expect(rotate(3600, "2026-03-01T12:30:00Z")?.revokedAt).toBe("2026-03-01T12:30:00Z");
    expect(rotate(60, "2026-03-01T12:30:00Z")?.revokedAt).toBe("2026-03-01T12:01:00Z");
  });

  test("D-5.5 a key that is not active cannot be rotated", () => {
    const rotation = { id: "key-1", successor: SUCCESSOR, overlapSeconds: 60, nowMs: NOW_MS };
    expect(planRotation({ ...STORED, revokedAt: NOW }, rotation)).toBeNull();
    expect(planRotation({ ...STORED, expiresAt: NOW }, rotation)).toBeNull();
    // Revoked by another clock, which was ahead.
    const ahead = { ...STORED, revokedAt: "2026-03-02T00:00:00Z", isRevoked: true };
    expect(planRotation(ahead, rotation)).toBeNull();
  });
});

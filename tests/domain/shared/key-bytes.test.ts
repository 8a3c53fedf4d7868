import { expect, test } from "bun:test";
import { compareKeys, type Key } from "../../../src/domain/shared/document-key.ts";
import { keyBytes, keyOfBytes } from "../../../src/ports/stored-documents.ts";

/** The ends of what UTF-8 writes with as many bytes, and of the surrogates. */
const POINTS = [0, 1, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfeff, 0xffff, 0x10000, 0x10ffff];
const TEXTS = ["", "a", "ab", ...POINTS.map((point) => `${String.fromCodePoint(point)}x`)];
const KEYS: readonly Key[] = [
  ...TEXTS.flatMap((text) => [[text], [text, 0], [text, ""], [1, text]]),
  ...[0, 255, 256, 2 ** 32, Number.MAX_SAFE_INTEGER].map((number) => [number]),
];

test("bytes of keys are ordered as keys are, and give the key back", () => {
  const byBytes = KEYS.toSorted((a, b) => Buffer.compare(keyBytes(a), keyBytes(b)));
  expect(byBytes).toEqual(KEYS.toSorted(compareKeys));
  for (const key of KEYS) expect(keyOfBytes(keyBytes(key))).toEqual(key);
});

test("the text in a key is UTF-8", () => {
  for (const text of TEXTS.filter((one) => !one.includes("\0"))) {
    expect([...keyBytes([text])]).toEqual([2, ...new TextEncoder().encode(text), 0]);
  }
});

test("bytes that are no key are refused", () => {
  const wrong = [[9], [1, 2], [2, 65], [2, 0xff, 0], [2, 0xc0, 0x80, 0], [2, 0xed, 0xa0, 0x80, 0]];
  for (const bytes of wrong) expect(() => keyOfBytes(Uint8Array.from(bytes))).toThrow();
});

// Keys as bytes whose order is that of keys, for stores that order bytes.
import type { Key } from "./document-key.ts";

const NUMBER = 1;
const TEXT = 2;
/** Ends a text; within one it is followed by `ESCAPED`, which comes after every tag. */
const END = 0;
const ESCAPED = 0xff;
/** Follows every part that begins with a tag, and no part that goes on with `ESCAPED`. */
export const AFTER_PARTS = 3;
/** Of 2^53 - 1. */
const NUMBER_BYTES = 7;

export function keyBytes(key: Key): Uint8Array {
  const bytes: number[] = [];
  for (const part of key) {
    if (typeof part === "number") {
      bytes.push(NUMBER);
      for (let i = NUMBER_BYTES - 1; i >= 0; i--) bytes.push(Math.floor(part / 256 ** i) % 256);
    } else {
      bytes.push(TEXT);
      pushText(bytes, part);
      bytes.push(END);
    }
  }
  return Uint8Array.from(bytes);
}

/** The key of `keyBytes`. Throws for other bytes. */
export function keyOfBytes(bytes: Uint8Array): Key {
  const key: (string | number)[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at++];
    if (tag === NUMBER) {
      const digits = bytes.subarray(at, at + NUMBER_BYTES);
      if (digits.length < NUMBER_BYTES) throw new Error("A key ends within a number");
      key.push(digits.reduce((sum, byte) => sum * 256 + byte, 0));
      at += NUMBER_BYTES;
    } else if (tag === TEXT) {
      const text: number[] = [];
      for (; bytes[at] !== END || bytes[at + 1] === ESCAPED; at++) {
        if (at >= bytes.length) throw new Error("A key ends within a text");
        text.push(bytes[at] ?? END);
        if (bytes[at] === END) at++;
      }
      at++;
      key.push(textOf(text));
    } else {
      throw new Error("A key has an unknown part");
    }
  }
  return key;
}

/** In UTF-8; what is no character becomes U+FFFD, as everywhere. */
function pushText(bytes: number[], text: string): void {
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) ?? 0;
    if (point < 0x80) bytes.push(point);
    else pushCharacter(bytes, point >= 0xd800 && point < 0xe000 ? 0xfffd : point);
    if (point === END) bytes.push(ESCAPED);
    if (point > 0xffff) i++;
  }
}

/** One of two bytes or more. */
function pushCharacter(bytes: number[], point: number): void {
  const last = 0x80 | (point & 0x3f);
  if (point < 0x800) bytes.push(0xc0 | (point >> 6), last);
  else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), last);
  else {
    const middle = [0x80 | ((point >> 12) & 0x3f), 0x80 | ((point >> 6) & 0x3f)];
    bytes.push(0xf0 | (point >> 18), ...middle, last);
  }
}

/** Throws for what is no UTF-8. */
function textOf(bytes: readonly number[]): string {
  if (bytes.every((byte) => byte < 0x80)) return String.fromCharCode(...bytes);
  const escaped = bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`);
  return decodeURIComponent(escaped.join(""));
}

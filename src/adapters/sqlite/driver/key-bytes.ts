// Keys as bytes that SQLite orders as keys are ordered.
import type { Key } from "../../../domain/shared/document-key.ts";

const NUMBER = 1;
const TEXT = 2;
/** Ends a text; within one it is followed by `ESCAPED`, which comes after every tag. */
const END = 0;
const ESCAPED = 0xff;
/** Follows every part that begins with a tag, and no part that goes on with `ESCAPED`. */
export const AFTER_PARTS = 3;
/** Of 2^53 - 1. */
const NUMBER_BYTES = 7;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function keyBytes(key: Key): Uint8Array {
  const bytes: number[] = [];
  for (const part of key) {
    if (typeof part === "number") {
      bytes.push(NUMBER);
      for (let i = NUMBER_BYTES - 1; i >= 0; i--) bytes.push(Math.floor(part / 256 ** i) % 256);
    } else {
      bytes.push(TEXT);
      for (const byte of encoder.encode(part)) {
        bytes.push(byte);
        if (byte === END) bytes.push(ESCAPED);
      }
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
      key.push(decoder.decode(Uint8Array.from(text)));
    } else {
      throw new Error("A key has an unknown part");
    }
  }
  return key;
}

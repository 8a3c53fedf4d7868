// Keys of documents: how they are ordered, and what may be one.
import { compareUtf8, utf8Bytes } from "./json.ts";

/**
 * A document's key, or its place in an index: texts, and whole numbers from 0. Keys order part by part, numbers before texts, texts
 * by their UTF-8 bytes; a key comes right before those that begin with it.
 */
export type Key = readonly (string | number)[];

/** The limit of all parts together, in UTF-8, with 9 bytes for a number. PostgreSQL's indexes end at 2.7 KB. */
const MAX_KEY_BYTES = 1_024;
const NUMBER_BYTES = 9;

/** Less than 0 when `a` comes before `b`, 0 when they are equal. */
export function compareKeys(a: Key, b: Key): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = comparePartsOf(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function beginsWith(key: Key, parts: Key): boolean {
  return parts.every((part, i) => part === key[i]);
}

/** Throws for what is no key: a bug of the caller. */
export function checkKey(key: Key): void {
  const problem = problemOf(key);
  if (problem !== null) throw new Error(problem);
}

/** False for a key that no document can have, such as one of a very long name. */
export function isKey(key: Key): boolean {
  return problemOf(key) === null;
}

/** The key, or none where no document can have it: callers may name anything. */
export function keysOf(...key: Key): readonly Key[] {
  return isKey(key) ? [key] : [];
}

function problemOf(key: Key): string | null {
  let bytes = 0;
  for (const part of key) {
    if (typeof part === "number") {
      if (!Number.isSafeInteger(part) || part < 0) return `No part of a key: ${part}`;
      bytes += NUMBER_BYTES;
    } else {
      if (!part.isWellFormed()) return "A text in a key has a lone surrogate";
      bytes += utf8Bytes(part);
    }
  }
  if (key.length === 0) return "A key has no parts";
  return bytes > MAX_KEY_BYTES ? `A key has ${bytes} bytes, ${MAX_KEY_BYTES} at most` : null;
}

/** Beginnings of keys in order, without those that begin with another one. So no key is found twice. */
export function distinctBeginnings(beginnings: readonly Key[]): readonly Key[] {
  const kept: Key[] = [];
  for (const parts of beginnings.toSorted(compareKeys)) {
    const last = kept.at(-1);
    if (last === undefined || !beginsWith(parts, last)) kept.push(parts);
  }
  return kept;
}

function comparePartsOf(a: string | number | undefined, b: string | number | undefined): number {
  if (typeof a === "number") return typeof b === "number" ? a - b : -1;
  if (typeof b === "number") return 1;
  return compareUtf8(a ?? "", b ?? "");
}

// Keys as bytes in the order of keys, for stores that order bytes.

const NUMBER = 1;
const TEXT = 2;
/** Ends a text. A zero within a text is followed by `ESCAPED`, which is greater than every tag. */
const END = 0;
const ESCAPED = 0xff;
/** Greater than every tag. The bytes of some parts and this one are an upper bound of the keys that begin with those parts. */
export const AFTER_PARTS = 3;
/** The bytes of 2^53 - 1. */
const NUMBER_WIDTH = 7;

export function keyBytes(key: Key): Uint8Array {
  const bytes: number[] = [];
  for (const part of key) {
    if (typeof part === "number") {
      bytes.push(NUMBER);
      for (let i = NUMBER_WIDTH - 1; i >= 0; i--) bytes.push(Math.floor(part / 256 ** i) % 256);
    } else {
      bytes.push(TEXT);
      pushText(bytes, part);
      bytes.push(END);
    }
  }
  return Uint8Array.from(bytes);
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = (a[i] ?? 0) - (b[i] ?? 0);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** The key of `keyBytes`. Throws for other bytes. */
export function keyOfBytes(bytes: Uint8Array): Key {
  const key: (string | number)[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at++];
    if (tag === NUMBER) {
      const digits = bytes.subarray(at, at + NUMBER_WIDTH);
      if (digits.length < NUMBER_WIDTH) throw new Error("A key ends within a number");
      key.push(digits.reduce((sum, byte) => sum * 256 + byte, 0));
      at += NUMBER_WIDTH;
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

/** Appends a text in UTF-8; a lone surrogate becomes U+FFFD, as everywhere. */
function pushText(bytes: number[], text: string): void {
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) ?? 0;
    if (point < 0x80) bytes.push(point);
    else pushCharacter(bytes, point >= 0xd800 && point < 0xe000 ? 0xfffd : point);
    if (point === END) bytes.push(ESCAPED);
    if (point > 0xffff) i++;
  }
}

/** Adds a character that UTF-8 writes in two to four bytes. */
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

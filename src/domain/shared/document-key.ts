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

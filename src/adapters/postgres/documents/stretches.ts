// Stretches as ranges of bytes: keys are stored in bytes that are ordered as they are.
import { checkKey, distinctBeginnings, type Key } from "../../../domain/shared/document-key.ts";
import { AFTER_PARTS, keyBytes } from "../../../domain/shared/key-bytes.ts";
import type { Stretch } from "../../../ports/documents.ts";

/** From the first bytes on, to those before the last; null for no end. */
export interface ByteRange {
  readonly from: Uint8Array;
  readonly before: Uint8Array | null;
}

/** Disjoint ranges, in the direction of reading. */
export function rangesOf(stretch: Stretch): readonly ByteRange[] {
  const { within, after, upTo, isReverse = false } = stretch;
  for (const key of [after, upTo]) if (key !== undefined) checkKey(key);
  const [low, high] = isReverse ? [upTo, after] : [after, upTo];
  // What comes right behind some bytes are those with a zero behind.
  const from = low === undefined ? NOTHING : isReverse ? keyBytes(low) : behind(low);
  const before = high === undefined ? null : isReverse ? keyBytes(high) : behind(high);
  const ranges = within === undefined ? [EVERYTHING] : distinctBeginnings(within).map(rangeOf);
  const cut = ranges
    .map((range) => ({ from: later(range.from, from), before: earlier(range.before, before) }))
    .filter((range) => range.before === null || Buffer.compare(range.from, range.before) < 0);
  return isReverse ? cut.reverse() : cut;
}

const NOTHING = new Uint8Array(0);
const EVERYTHING: ByteRange = { from: NOTHING, before: null };

function rangeOf(parts: Key): ByteRange {
  const bytes = keyBytes(parts);
  return { from: bytes, before: Uint8Array.of(...bytes, AFTER_PARTS) };
}

function behind(key: Key): Uint8Array {
  return Uint8Array.of(...keyBytes(key), 0);
}

function later(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Buffer.compare(a, b) < 0 ? b : a;
}

function earlier(a: Uint8Array | null, b: Uint8Array | null): Uint8Array | null {
  if (a === null || b === null) return a ?? b;
  return Buffer.compare(a, b) < 0 ? a : b;
}

// Versions of rows as bytes, 20 a row, for a store to keep. D-7.1.
import type { RowVersion } from "../rows/row-versions.ts";

/** Two words of the key's hash, one of the content's, and the time, little-endian. */
const ENTRY_BYTES = 20;
const TIME_AT = 12;
const MAX_PART_VERSIONS = 100_000;

export function writeBlock(versions: readonly RowVersion[]): Uint8Array {
  const block = new Uint8Array(versions.length * ENTRY_BYTES);
  const view = viewOf(block);
  for (const [i, { high, low, content, micros }] of versions.entries()) {
    const at = i * ENTRY_BYTES;
    view.setUint32(at, high, true);
    view.setUint32(at + 4, low, true);
    view.setUint32(at + 8, content, true);
    view.setFloat64(at + TIME_AT, micros, true);
  }
  return block;
}

export function* readBlock(block: Uint8Array): Generator<RowVersion, void, undefined> {
  const view = viewOf(block);
  for (let at = 0; at + ENTRY_BYTES <= block.byteLength; at += ENTRY_BYTES) {
    yield {
      high: view.getUint32(at, true),
      low: view.getUint32(at + 4, true),
      content: view.getUint32(at + 8, true),
      micros: view.getFloat64(at + TIME_AT, true),
    };
  }
}

/** The number of versions in a block. */
export function countBlock(block: Uint8Array): number {
  return Math.floor(block.byteLength / ENTRY_BYTES);
}

/** The earliest time in a block, as in `RowVersion`. */
export function firstMicros(block: Uint8Array): number {
  const view = viewOf(block);
  let first = Number.POSITIVE_INFINITY;
  for (let at = TIME_AT; at < block.byteLength; at += ENTRY_BYTES) {
    first = Math.min(first, view.getFloat64(at, true));
  }
  return first;
}

/** The block in parts of a few MiB at most, as stores keep them; an empty one in one. */
export function blockParts(block: Uint8Array): readonly Uint8Array[] {
  const partBytes = MAX_PART_VERSIONS * ENTRY_BYTES;
  const parts = [block.subarray(0, partBytes)];
  for (let at = partBytes; at < block.byteLength; at += partBytes) {
    parts.push(block.subarray(at, at + partBytes));
  }
  return parts;
}

function viewOf(block: Uint8Array): DataView {
  return new DataView(block.buffer, block.byteOffset, block.byteLength);
}

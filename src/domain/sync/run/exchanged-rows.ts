// Exchanged rows: as they last went to the remote or came from it, the same at both ends. A push leaves out such a row while it is
// unchanged, and so reverts no edit with the same time. D-7.1.
import { parseDateTime } from "../../shared/time.ts";
import { microsOf, NO_TIME, type RowVersion, RowVersions, versionOf } from "../rows/row-memory.ts";
import { timeMicros } from "../rows/row-time.ts";
import type { Row, Table } from "../table/table.ts";

/** A store keeps a block as one value; reading one does not hold up anything else for long. */
const MAX_BLOCK_VERSIONS = 50_000;
/** Versions from which on those that the push has passed are dropped. */
const MANY_VERSIONS = 50_000;

interface KeptBlock {
  readonly block: Uint8Array;
  /** Place in the order in which blocks were kept: of the versions of one row the last counts. */
  readonly number: number;
  readonly firstMicros: number;
}

/**
 * The exchanged rows of one table during a push. It reads blocks as the push comes to their times, and drops what the push has
 * passed, so that not all are held at once. Without a timestamp column there are none: each push sends the whole table.
 */
export class ExchangedRows {
  readonly #table: Table;
  /** Blocks that were not read yet, by their earliest time. */
  readonly #unread: KeptBlock[];
  readonly #ownNumber: number;
  #versions = new RowVersions();
  #manyVersions = MANY_VERSIONS;

  /** `blocks` as they were kept, the oldest first. */
  constructor(table: Table, blocks: readonly Uint8Array[] = []) {
    this.#table = table;
    this.#ownNumber = blocks.length;
    this.#unread = blocks
      .map((block, number) => ({ block, number, firstMicros: firstMicros(block) }))
      .sort((a, b) => a.firstMicros - b.firstMicros);
  }

  /** Reads every block that may hold these rows, one in each step. Call it before `has`. */
  *readFor(rows: readonly Row[]): Generator<void, void, undefined> {
    if (this.#unread.length === 0) return;
    const lastMicros = rows.reduce(
      (last, row) => Math.max(last, microsOf(this.#table, row)),
      NO_TIME,
    );
    yield* this.#readThrough(lastMicros);
  }

  /** True for a row that is as it last went or came. */
  has(row: Row): boolean {
    if (this.#versions.size === 0) return false;
    return this.#versions.find(exchangedVersion(this.#table, row, NO_TIME))?.isSame ?? false;
  }

  /** Adds sent rows, drops what the marker has passed, and returns the block; rows known in another version are in it, too. */
  note(rows: readonly Row[], pushMarker: string | null): Uint8Array | null {
    const versions = versionsToKeep(this.#table, rows, pushMarker, this.#versions);
    for (const version of versions) this.#versions.note(version, this.#ownNumber);
    this.#drop(pushMarker);
    return versions.length === 0 ? null : writeBlock(versions);
  }

  /** Blocks of the rows that a push from the marker on can meet. */
  blocks(pushMarker: string | null): Uint8Array[] {
    for (const _ of this.#readThrough(Number.POSITIVE_INFINITY));
    const fromMicros = firstMetMicros(pushMarker);
    const blocks: Uint8Array[] = [];
    let versions: RowVersion[] = [];
    for (const [version] of this.#versions.all()) {
      if (canBeMet(version.micros, fromMicros)) versions.push(version);
      if (versions.length < MAX_BLOCK_VERSIONS) continue;
      blocks.push(writeBlock(versions));
      versions = [];
    }
    return versions.length === 0 ? blocks : [...blocks, writeBlock(versions)];
  }

  *#readThrough(lastMicros: number): Generator<void, void, undefined> {
    for (let next = this.#unread[0]; next !== undefined; next = this.#unread[0]) {
      if (next.firstMicros > lastMicros) return;
      this.#unread.shift();
      for (const version of readBlock(next.block)) this.#versions.note(version, next.number);
      yield;
    }
  }

  #drop(pushMarker: string | null): void {
    if (this.#versions.size < this.#manyVersions) return;
    const fromMicros = firstMetMicros(pushMarker);
    const left = new RowVersions();
    for (const [version, number] of this.#versions.all()) {
      if (canBeMet(version.micros, fromMicros)) left.note(version, number);
    }
    this.#versions = left;
    this.#manyVersions = MANY_VERSIONS + 2 * left.size;
  }
}

/** The block of rows that came, as the table keeps them, as far as a push from the marker on can meet them. Null for none. */
export function exchangedBlock(
  table: Table,
  rows: readonly Row[],
  pushMarker: string | null,
): Uint8Array | null {
  const versions = versionsToKeep(table, rows, pushMarker, new RowVersions());
  return versions.length === 0 ? null : writeBlock(versions);
}

function versionsToKeep(
  table: Table,
  rows: readonly Row[],
  pushMarker: string | null,
  known: RowVersions,
): RowVersion[] {
  if (table.timestampColumn === null) return [];
  const fromMicros = firstMetMicros(pushMarker);
  return rows.flatMap((row) => {
    const micros = microsOf(table, row);
    const isMet = canBeMet(micros, fromMicros);
    // Saves making the texts of most rows of a large push, which are behind its marker.
    if (!isMet && known.size === 0) return [];
    const version = exchangedVersion(table, row, micros);
    return isMet || known.find(version) !== null ? [version] : [];
  });
}

/** Rows are compared as this store has them, so their values need no common form. */
function exchangedVersion(table: Table, row: Row, micros: number): RowVersion {
  const values = table.movedColumns.map(({ name }) => row[name] ?? null);
  return versionOf(table, row, JSON.stringify(values), micros);
}

/** Every push meets rows without a time. */
function canBeMet(micros: number, fromMicros: number): boolean {
  return micros === NO_TIME || micros >= fromMicros;
}

function firstMetMicros(pushMarker: string | null): number {
  const from = pushMarker === null ? null : parseDateTime(pushMarker);
  return from === null ? NO_TIME : timeMicros(from);
}

// Versions of rows as bytes, 20 a row, for a store to keep. D-7.1.

/** Two words of the key's hash, one of the content's, and the time, little-endian. */
const ENTRY_BYTES = 20;
const TIME_AT = 12;
const MAX_PART_VERSIONS = 100_000;

function writeBlock(versions: readonly RowVersion[]): Uint8Array {
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

function* readBlock(block: Uint8Array): Generator<RowVersion, void, undefined> {
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

export function countBlock(block: Uint8Array): number {
  return Math.floor(block.byteLength / ENTRY_BYTES);
}

function firstMicros(block: Uint8Array): number {
  const view = viewOf(block);
  let first = Number.POSITIVE_INFINITY;
  for (let at = TIME_AT; at < block.byteLength; at += ENTRY_BYTES) {
    first = Math.min(first, view.getFloat64(at, true));
  }
  return first;
}

/** The block in parts of a few MiB at most, as stores keep it; an empty block is one part. */
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

// Remembers which rows a transfer has seen, in 16 to 32 bytes per row whatever their length.
import { HASH_WORDS, hashText } from "../../shared/text.ts";
import type { Row, Table } from "../table/table.ts";
import { keyText } from "./row-key.ts";
import { rowTime, timeMicros } from "./row-time.ts";

const SLOT_WORDS = 4;
const FIRST_SLOTS = 64;
const MAX_LOAD = 0.65;

interface KnownRow {
  /** The number it was last noted with; 0 when its key was not known. */
  readonly note: number;
  /** True when it was last noted with the same content. */
  readonly isSame: boolean;
}

/** A row as texts: equal texts mean the same row. */
interface RowToRemember {
  readonly key: string;
  /** Left out where only keys matter. */
  readonly content?: string;
}

/** A row as unsigned words: two of its key, one of its content. */
interface RowHash {
  readonly high: number;
  readonly low: number;
  readonly content: number;
}

const words = new Uint32Array(HASH_WORDS);

export function hashRow({ key, content = "" }: RowToRemember): RowHash {
  hashText(content, words);
  const contentWord = words[0] ?? 0;
  hashText(key, words);
  return { high: words[0] ?? 0, low: words[1] ?? 0, content: contentWord };
}

const UNKNOWN: KnownRow = { note: 0, isSame: false };

/** Rows as hashes, 64 bits of the key, 32 of the content. Two of a million keys share one once in 37 million times. */
export class RowMemory {
  #slots = new Uint32Array(FIRST_SLOTS * SLOT_WORDS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Notes a row with a number from 1, and returns how it was noted before. */
  note(row: RowToRemember, note: number): KnownRow {
    return this.noteHash(hashRow(row), note);
  }

  noteHash(hash: RowHash, note: number): KnownRow {
    if (this.#size >= (this.#slots.length / SLOT_WORDS) * MAX_LOAD) this.#grow();
    const slots = this.#slots;
    const at = findSlot(slots, hash.high, hash.low);
    const known = knownAt(slots, at, hash.content);
    if (known.note === 0) this.#size++;
    slots[at] = hash.high;
    slots[at + 1] = hash.low;
    slots[at + 2] = hash.content;
    slots[at + 3] = note;
    return known;
  }

  find(row: RowToRemember): KnownRow {
    return this.findHash(hashRow(row));
  }

  findHash(hash: RowHash): KnownRow {
    return knownAt(this.#slots, findSlot(this.#slots, hash.high, hash.low), hash.content);
  }

  /** Every row with the number it was last noted with, in no order. */
  *entries(): Generator<[RowHash, number], void, undefined> {
    const slots = this.#slots;
    for (let at = 0; at < slots.length; at += SLOT_WORDS) {
      const note = slots[at + 3] ?? 0;
      if (note === 0) continue;
      yield [{ high: slots[at] ?? 0, low: slots[at + 1] ?? 0, content: slots[at + 2] ?? 0 }, note];
    }
  }

  #grow(): void {
    const before = this.#slots;
    const slots = new Uint32Array(before.length * 2);
    for (let from = 0; from < before.length; from += SLOT_WORDS) {
      if (before[from + 3] === 0) continue;
      const to = findSlot(slots, before[from] ?? 0, before[from + 1] ?? 0);
      for (let word = 0; word < SLOT_WORDS; word++) slots[to + word] = before[from + word] ?? 0;
    }
    this.#slots = slots;
  }
}

function knownAt(slots: Uint32Array, at: number, content: number): KnownRow {
  const note = slots[at + 3] ?? 0;
  return note === 0 ? UNKNOWN : { note, isSame: slots[at + 2] === content };
}

/** The place of a key: its slot, or the free one where it would go. */
function findSlot(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length / SLOT_WORDS - 1;
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const at = slot * SLOT_WORDS;
    if (slots[at + 3] === 0 || (slots[at] === high && slots[at + 1] === low)) return at;
  }
}

// The version of each row that was seen: its content and its time, in some 50 bytes whatever its length.

export interface RowVersion extends RowHash {
  /** Microseconds since 1970; `NO_TIME` for a row without a timestamp. */
  readonly micros: number;
}

export const NO_TIME = Number.NEGATIVE_INFINITY;

/** The version of a row as the table keeps it; equal contents have equal texts. */
export function versionOf(
  table: Table,
  row: Row,
  content: string,
  micros = microsOf(table, row),
): RowVersion {
  return { ...hashRow({ key: keyText(table, row), content }), micros };
}

export function microsOf(table: Table, row: Row): number {
  const time = rowTime(table, row);
  return time === null ? NO_TIME : timeMicros(time);
}

/** The last version of each row that was noted, by key. */
export class RowVersions {
  /** Rows with the place of their time, from 1. */
  readonly #rows = new RowMemory();
  readonly #micros: number[] = [];
  /** The number of the block that each was noted from. */
  readonly #blocks: number[] = [];

  get size(): number {
    return this.#rows.size;
  }

  /** Notes a version, unless one of the same row is known that was noted from a later block. */
  note(version: RowVersion, block = 0): void {
    const { note } = this.#rows.findHash(version);
    if (note > 0 && (this.#blocks[note - 1] ?? 0) > block) return;
    const place = note > 0 ? note : this.#micros.length + 1;
    this.#micros[place - 1] = version.micros;
    this.#blocks[place - 1] = block;
    this.#rows.noteHash(version, place);
  }

  /** The known version of the same row; null where there is none. */
  find(version: RowVersion): { readonly isSame: boolean; readonly micros: number } | null {
    const { note, isSame } = this.#rows.findHash(version);
    return note === 0 ? null : { isSame, micros: this.#micros[note - 1] ?? NO_TIME };
  }

  /** Every version with its block, in no order. */
  *all(): Generator<[RowVersion, block: number], void, undefined> {
    for (const [hash, place] of this.#rows.entries()) {
      const micros = this.#micros[place - 1] ?? NO_TIME;
      yield [{ ...hash, micros }, this.#blocks[place - 1] ?? 0];
    }
  }
}

// Documents as stores keep them that order keys by their bytes: the key, the JSON text without the fields of bytes, these fields,
// and the place in each index.
import { checkKey, distinctBeginnings, type Key } from "../domain/shared/document-key.ts";
import { orElse } from "../domain/shared/errors.ts";
import { type AnyCollection, Damaged, damagedDocument, type Stretch } from "./documents.ts";

/** The columns of a stored document. */
export interface StoredDocument {
  readonly key: Uint8Array;
  readonly text: string;
  /** Its fields of bytes and its places, in the order of the columns. */
  readonly others: readonly (Uint8Array | null)[];
}

/** The columns as they were read: of any value, as another program may have written them. */
export interface FoundDocument {
  readonly key: unknown;
  readonly text: unknown;
  readonly others: readonly unknown[];
}

/** The columns of a collection's table, and what is in them. */
export class DocumentForm {
  readonly collection: AnyCollection;
  readonly indexes: readonly string[];
  readonly bytesColumns: readonly string[];
  readonly placeColumns: readonly string[];
  /** The columns of bytes, then those of places. */
  readonly otherColumns: readonly string[];
  readonly #bytes: readonly string[];
  /** JSON leaves out what is undefined. */
  readonly #noBytes: object;

  constructor(collection: AnyCollection) {
    this.collection = collection;
    this.indexes = Object.keys(collection.indexes ?? {});
    this.#bytes = collection.bytes ?? [];
    this.#noBytes = Object.fromEntries(this.#bytes.map((field) => [field, undefined]));
    this.bytesColumns = this.#bytes.map((field) => `bytes_${field}`);
    this.placeColumns = this.indexes.map((index) => `at_${index}`);
    this.otherColumns = [...this.bytesColumns, ...this.placeColumns];
  }

  /** The column of an index; that of the keys without one. Throws for an index that was not declared. */
  orderColumn(index: string | undefined): string {
    if (index === undefined) return "key";
    const column = this.placeColumns[this.indexes.indexOf(index)];
    if (column !== undefined) return column;
    throw new Error(`Collection "${this.collection.name}" has no index "${index}"`);
  }

  /** The columns of a document. Throws what `JSON.stringify` throws. */
  stored(doc: object): StoredDocument {
    const { keyOf, indexes = {} } = this.collection;
    const key = keyOf(doc);
    const bytes = this.#bytes.map((field) => {
      const value: unknown = doc[field as keyof typeof doc];
      return value instanceof Uint8Array ? value.slice() : null;
    });
    const places = this.indexes.map((index) => {
      const place = indexes[index]?.(doc) ?? null;
      return place === null ? null : keyBytes([...place, ...key]);
    });
    const text = JSON.stringify({ ...doc, ...this.#noBytes });
    return { key: keyBytes(key), text, others: [...bytes, ...places] };
  }

  /** The stored document; its places may be left out. Throws `store_unavailable` for what another program has put there. */
  read({ key, text, others }: FoundDocument): object {
    try {
      const doc: unknown = JSON.parse(String(text));
      if (typeof doc !== "object" || doc === null) throw new Error("A document is no object");
      for (const [i, field] of this.#bytes.entries()) {
        const value = others[i];
        if (value instanceof Uint8Array) Object.assign(doc, { [field]: new Uint8Array(value) });
      }
      if (areSame(keyBytes(this.collection.keyOf(doc)), key)) return doc;
    } catch (cause) {
      throw damagedDocument(this.collection, cause);
    }
    throw damagedDocument(this.collection);
  }

  keyOf(key: unknown): Key {
    try {
      return keyOfBytes(key as Uint8Array);
    } catch (cause) {
      throw damagedDocument(this.collection, cause);
    }
  }

  /** The document, where every column is as `stored` gives it; else `Damaged`, with `place` as its key for people. */
  asStored(found: FoundDocument, place: string): object | Damaged {
    try {
      const doc = this.read(found);
      const { text, others } = this.stored(doc);
      const isSame = others.every((one, i) => areSame(one, found.others[i]));
      if (text === found.text && isSame) return doc;
    } catch {
      // Another program has changed it.
    }
    return new Damaged(keyIn(found.key), place, found.key);
  }
}

function areSame(a: Uint8Array | null, b: unknown): boolean {
  if (a === null) return b === null;
  return b instanceof Uint8Array && compareBytes(a, b) === 0;
}

function keyIn(bytes: unknown): Key | null {
  const key = orElse(null, () => keyOfBytes(bytes as Uint8Array));
  return key !== null && areSame(keyBytes(key), bytes) ? key : null;
}

// Keys as bytes in the order of keys, for stores that order bytes.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
      const text = encoder.encode(part);
      // Twice as fast as by its iterator.
      for (let i = 0; i < text.length; i++) {
        bytes.push(text[i] ?? END);
        if (text[i] === END) bytes.push(ESCAPED);
      }
      bytes.push(END);
    }
  }
  return Uint8Array.from(bytes);
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
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
      key.push(decoder.decode(Uint8Array.from(text)));
    } else {
      throw new Error("A key has an unknown part");
    }
  }
  return key;
}

// Stretches as ranges of bytes.

/** The bytes from `from` on that come before `before`; null for no end. */
export interface ByteRange {
  readonly from: Uint8Array;
  readonly before: Uint8Array | null;
}

/** Disjoint ranges, in the direction of reading. */
export function rangesOf(stretch: Stretch): readonly ByteRange[] {
  const { within, after, upTo, isReverse = false } = stretch;
  for (const key of [...(within ?? []), after ?? [0], upTo ?? [0]]) checkKey(key);
  const [low, high] = isReverse ? [upTo, after] : [after, upTo];
  const from = low === undefined ? NOTHING : isReverse ? keyBytes(low) : behind(keyBytes(low));
  const before = high === undefined ? null : isReverse ? keyBytes(high) : behind(keyBytes(high));
  const ranges = within === undefined ? [EVERYTHING] : distinctBeginnings(within).map(rangeOf);
  const cut = ranges.map((range) => ({
    from: later(range.from, from),
    before: earlier(range.before, before),
  }));
  const kept = cut.filter(isSome);
  return isReverse ? kept.reverse() : kept;
}

/** The parts of ranges behind some bytes. */
export function rangesBehind(
  ranges: readonly ByteRange[],
  bytes: Uint8Array,
): readonly ByteRange[] {
  const low = behind(bytes);
  return ranges.map(({ from, before }) => ({ from: later(from, low), before })).filter(isSome);
}

const NOTHING = new Uint8Array(0);
const EVERYTHING: ByteRange = { from: NOTHING, before: null };

function rangeOf(parts: Key): ByteRange {
  const bytes = keyBytes(parts);
  return { from: bytes, before: Uint8Array.of(...bytes, AFTER_PARTS) };
}

/** The next bytes in order. */
function behind(bytes: Uint8Array): Uint8Array {
  return Uint8Array.of(...bytes, 0);
}

function isSome({ from, before }: ByteRange): boolean {
  return before === null || compareBytes(from, before) < 0;
}

function later(a: Uint8Array, b: Uint8Array): Uint8Array {
  return compareBytes(a, b) < 0 ? b : a;
}

function earlier(a: Uint8Array | null, b: Uint8Array | null): Uint8Array | null {
  if (a === null || b === null) return a ?? b;
  return compareBytes(a, b) < 0 ? a : b;
}

/** What a store has prepared for a collection, by name. Throws for a collection that was not prepared. */
export function preparedIn<Form>(forms: ReadonlyMap<string, Form>, { name }: AnyCollection): Form {
  const form = forms.get(name);
  if (form === undefined) throw new Error(`Collection "${name}" was not prepared`);
  return form;
}

// The table of a collection: a line for each document, with its JSON, its bytes, and its place in each index.
import {
  AFTER_PARTS,
  checkKey,
  distinctBeginnings,
  isKey,
  type Key,
  keyBytes,
  keyOfBytes,
} from "../../../domain/shared/document-key.ts";
import {
  type AnyCollection,
  Damaged,
  damagedDocument,
  type Stretch,
} from "../../../ports/documents.ts";
import { SCHEMA } from "../driver/schema.ts";
import { bytesList, quoted, type Statement, textList } from "../driver/sql.ts";

type Line = readonly unknown[];

/** What is stored of one document, in the order of the columns. */
export interface Stored {
  readonly key: Uint8Array;
  readonly text: string;
  readonly bytes: readonly (Uint8Array | null)[];
  readonly places: readonly (Uint8Array | null)[];
}

export class CollectionTable {
  readonly name: string;
  readonly #from: AnyCollection;
  readonly #bytes: readonly string[];
  readonly #indexes: readonly string[];

  constructor(from: AnyCollection) {
    this.#from = from;
    this.name = `${SCHEMA}.${quoted(from.name)}`;
    this.#bytes = from.bytes ?? [];
    this.#indexes = Object.keys(from.indexes ?? {});
  }

  /** Columns by name, with what makes them. */
  get columns(): ReadonlyMap<string, string> {
    return new Map([
      ["key", "bytea primary key"],
      ["doc", "json not null"],
      ...this.#bytes.map((field) => [bytesColumn(field), "bytea"] as const),
      ...this.#indexes.map((index) => [placeColumn(index), "bytea"] as const),
    ]);
  }

  /** Makes the index of a column that has places, in the form that may be there already. */
  indexText(column: string): string {
    const name = quoted(`${this.#from.name}_${column}`);
    return `create index if not exists ${name} on ${this.name} (${quoted(column)}) where ${quoted(column)} is not null`;
  }

  get placeColumns(): readonly string[] {
    return this.#indexes.map(placeColumn);
  }

  byKeys(keys: readonly Key[]): Statement {
    const text = `select ${this.#shown} from ${this.name} where key = any($1::text[]::bytea[]) order by key`;
    return { text, parameters: [bytesList(keys.map(keyBytes))] };
  }

  stretch(ranges: readonly ByteRange[], stretch: Stretch): Statement {
    return this.#inRanges(this.#shown, ranges, stretch);
  }

  count(ranges: readonly ByteRange[], stretch: Stretch): Statement {
    const { text, parameters } = this.#inRanges("key", ranges, stretch);
    return { text: `select count(*)::int4 from (${text}) as found`, parameters };
  }

  keysOf(ranges: readonly ByteRange[], stretch: Stretch): Statement {
    return this.#inRanges("key", ranges, stretch);
  }

  stored(ranges: readonly ByteRange[], limit: number | undefined): Statement {
    const shown = ["key", "doc::text", ...[...this.columns.keys()].slice(2).map(quoted)].join(", ");
    return this.#inRanges(shown, ranges, limit === undefined ? {} : { limit });
  }

  put(docs: readonly object[]): Statement {
    return this.putStored(docs.map((doc) => this.storedOf(doc)));
  }

  putStored(stored: readonly Stored[]): Statement {
    const columns = [...this.columns.keys()];
    const changes = columns.slice(1).map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
    const lists = columns.map((_, i) => `$${i + 1}::text[]::${i === 1 ? "json" : "bytea"}[]`);
    const text = `insert into ${this.name} (${columns.map(quoted).join(", ")}) select * from unnest(${lists.join(", ")}) on conflict (key) do update set ${changes.join(", ")}`;
    const parameters = [
      bytesList(stored.map(({ key }) => key)),
      textList(stored.map(({ text: json }) => json)),
      ...this.#bytes.map((_, i) => bytesList(stored.map(({ bytes }) => bytes[i] ?? null))),
      ...this.#indexes.map((_, i) => bytesList(stored.map(({ places }) => places[i] ?? null))),
    ];
    return { text, parameters };
  }

  remove(keys: readonly Key[]): Statement {
    const text = `delete from ${this.name} where key = any($1::text[]::bytea[])`;
    return { text, parameters: [bytesList(keys.map(keyBytes))] };
  }

  /** The document of a line of `byKeys` or `stretch`. Throws for one that is none of ours. */
  docOf(line: Line): object {
    const doc = this.#decoded(line);
    if (doc === null || Buffer.compare(keyBytes(this.#from.keyOf(doc)), bytesAt(line, 0)) !== 0) {
      throw damagedDocument(this.#from);
    }
    return doc;
  }

  keyOf(line: Line): Key {
    try {
      return keyOfBytes(bytesAt(line, 0));
    } catch {
      throw damagedDocument(this.#from);
    }
  }

  /** The document of a line of `stored`, or what is in its place. */
  asStored(line: Line): object | Damaged {
    const place = bytesAt(line, 0);
    const doc = this.#decoded(line);
    if (doc !== null && this.#isAsPut(doc, line)) return doc;
    const text = `\\x${Buffer.from(place).toString("hex")}`;
    try {
      const key = keyOfBytes(place);
      const isOurs = isKey(key) && Buffer.compare(keyBytes(key), place) === 0;
      return new Damaged(isOurs ? key : null, text, place);
    } catch {
      return new Damaged(null, text, place);
    }
  }

  #isAsPut(doc: object, line: Line): boolean {
    try {
      const { key, text, bytes, places } = this.storedOf(doc);
      const put = [...bytes, ...places];
      return (
        Buffer.compare(key, bytesAt(line, 0)) === 0 &&
        text === line[1] &&
        put.every((one, i) => isSame(one, line[i + 2]))
      );
    } catch {
      return false;
    }
  }

  get #shown(): string {
    return ["key", "doc::text", ...this.#bytes.map((field) => quoted(bytesColumn(field)))].join(
      ", ",
    );
  }

  #inRanges(shown: string, ranges: readonly ByteRange[], stretch: Stretch): Statement {
    const { index, isReverse = false, limit } = stretch;
    const order = quoted(index === undefined ? "key" : placeColumn(index));
    const direction = isReverse ? " desc" : "";
    const ends = limit === undefined ? "" : ` limit $3::int8`;
    const inner = `select * from ${this.name} where ${order} >= low and (high is null or ${order} < high) order by ${order}${direction}${ends}`;
    const text = `select ${shown} from unnest($1::text[]::bytea[], $2::text[]::bytea[]) as range(low, high), lateral (${inner}) as found${ends}`;
    const parameters = [
      bytesList(ranges.map(({ from }) => from)),
      bytesList(ranges.map(({ before }) => before)),
      ...(limit === undefined ? [] : [String(limit)]),
    ];
    return { text, parameters };
  }

  #decoded(line: Line): object | null {
    try {
      const doc: unknown = JSON.parse(String(line[1]));
      if (typeof doc !== "object" || doc === null || Array.isArray(doc)) return null;
      const bytes = this.#bytes.flatMap((field, i) => {
        const value = line[i + 2];
        return value instanceof Uint8Array ? [[field, new Uint8Array(value)] as const] : [];
      });
      return Object.assign(doc, Object.fromEntries(bytes));
    } catch {
      return null;
    }
  }

  /** What is stored of a document as it is now. Throws what `JSON.stringify` does. */
  storedOf(doc: object): Stored {
    const key = this.#from.keyOf(doc);
    const fields = new Map(Object.entries(doc));
    const bytes = this.#bytes.map((field) => {
      const value: unknown = fields.get(field);
      fields.delete(field);
      return value instanceof Uint8Array ? value.slice() : null;
    });
    const places = this.#indexes.map((index) => {
      const place = this.#from.indexes?.[index]?.(doc) ?? null;
      return place === null ? null : keyBytes([...place, ...key]);
    });
    return { key: keyBytes(key), text: JSON.stringify(Object.fromEntries(fields)), bytes, places };
  }
}

const bytesColumn = (field: string) => `bytes_${field}`;
const placeColumn = (index: string) => `at_${index}`;

function bytesAt(line: Line, at: number): Uint8Array {
  const value = line[at];
  return value instanceof Uint8Array ? value : new Uint8Array(0);
}

function isSame(a: Uint8Array | null, b: unknown): boolean {
  if (a === null) return b === null;
  return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
}

// Stretches as ranges of bytes: keys are stored in bytes that are ordered as they are.

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

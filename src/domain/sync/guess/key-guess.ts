// Guesses the columns that identify rows, alone or together: the likeliest of those whose values never repeat. The name tells most,
// then the place in the file, then pairs and triples: in a short file a quantity may differ in every row.

import { isNumber, type JsonObject, type JsonValue, numberText } from "../../shared/json.ts";
import { formatCount, HASH_WORDS, hashText } from "../../shared/text.ts";
import { parseDateTime } from "../../shared/time.ts";
import { wordsOfName } from "../table/names.ts";

/** Columns that may identify rows together; the lowest rank is the likeliest. */
export interface KeyCandidate {
  readonly columns: readonly string[];
  readonly rank: number;
  readonly reason: string;
  /** True where only the values tell: other records may repeat them. */
  readonly isByValues: boolean;
}

/** Records without a value in some columns, or with values that an earlier record has. */
export interface Repeats {
  readonly columns: readonly string[];
  readonly count: number;
  readonly lines: readonly number[];
}

/** A column that may be part of a key: without empty values, and of a type whose values have one spelling. */
export interface KeyColumn {
  readonly name: string;
  readonly isTime: boolean;
}

const OWN_ID = /^(?:id|uuid|guid|key|rowid)$/;
const ID = /(?:^|_)(?:id|uuid|guid|key)$/;
const CODE =
  /(?:^|_)(?:code|sku|slug|username|user_name|email|ean|isbn|iban|upc|number|no|nr|num|ref|reference|symbol|iso|iso2|iso3|handle|login)$/;
const MEASURE =
  /(?:^|_)(?:qty|quantity|amount|price|total|count|sum|value|score|rating|age|year|size|weight|height|width|length|stock|temperature|humidity|lat|lon|lng|latitude|longitude|percent|rate|balance|cost|points|duration|note|notes|comment|comments|description|text|body|message|title)$/;

/** Repeats with which a column still counts as nearly a key: the greater of both. D-14.1. */
const MAX_STRAY = 5;
const MAX_STRAY_SHARE = 0.01;
const TOLD_LINES = 10;

const MAX_PARTS = 8;

/** Before pairs come the first column and those named as an identity; behind triples all other single columns. */
const RANKS = {
  ownId: 0,
  id: 1,
  code: 2,
  first: 3,
  pair: 10,
  triple: 60,
  other: 200,
  time: 300,
  measure: 400,
};

/** Records whose values are compared. */
const MAX_RECORDS = 1_000_000;
/** Hashes kept at once, of 8 bytes: of four columns to the last record, of more in shorter files. */
const MAX_HASHES = 4 * MAX_RECORDS;
/** Records that are compared in one step, well below a turn. */
const STEP_RECORDS = 1_000;
const HALF = 0x200000;
/** Mixes the hashes of columns. The factor is transcendental, so that different hashes never add up to one sum. */
const MIX = Math.LN2;

/** Hashes each value that may be part of a key, so that any columns can be compared after one reading, in steps. */
export class KeyGuess {
  readonly #table: string;
  /** Columns that somebody names; null for a guess. */
  readonly #asked: ((name: string) => boolean) | null;
  /** Columns of a key that a database declares. */
  readonly #declared: readonly string[];
  /** The likeliest column first; null before the first record. An empty value has the hash NaN. */
  #columns:
    | {
        readonly name: string;
        /** True for a column that is reported even when it is only nearly a key. */
        readonly isNamed: boolean;
        readonly hashes: number[];
      }[]
    | null = null;
  readonly #lines: number[] = [];
  #records = 0;

  constructor(
    table: string,
    asked: ((name: string) => boolean) | null,
    declared: readonly string[] = [],
  ) {
    this.#table = table;
    this.#asked = asked;
    this.#declared = declared;
  }

  add(record: JsonObject, line: number): void {
    if (++this.#records > MAX_RECORDS) return;
    this.#lines.push(line);
    this.#columns ??= this.#columnsOf(record);
    let hasEmpty = false;
    for (const { name, isNamed, hashes } of this.#columns) {
      const value = Object.hasOwn(record, name) ? (record[name] ?? "") : "";
      if (value !== "") hashes.push(hashOf(value));
      else if (isNamed) hashes.push(Number.NaN);
      else hasEmpty = true;
    }
    if (hasEmpty) {
      this.#columns = this.#columns.filter(({ hashes }) => hashes.length === this.#records);
    }
    if (this.#columns.length * this.#records > MAX_HASHES) this.#columns.pop();
  }

  /** A column that the first record lacks is no part of a key. */
  #columnsOf(record: JsonObject) {
    const names = Object.keys(record);
    const asked = this.#asked;
    if (asked !== null) {
      return names.filter(asked).map((name) => ({ name, isNamed: true, hashes: [] }));
    }
    const columns = names.map((name) => ({ name, isTime: false }));
    const others = singleCandidates(this.#table, columns)
      .map(({ columns: [name = ""], rank }) => {
        return { name, isNamed: rank < RANKS.first + 1, hashes: [] };
      })
      .filter(({ name }) => !this.#declared.includes(name));
    return [...this.#declared.map((name) => ({ name, isNamed: true, hashes: [] })), ...others];
  }

  /** Columns that could be keys but for a few records with a repeated or empty value, the likeliest first. */
  *nearly(): Generator<undefined, Repeats[], undefined> {
    const most = Math.max(MAX_STRAY, this.#records * MAX_STRAY_SHARE);
    const near: Repeats[] = [];
    for (const { name, isNamed } of this.#columns ?? []) {
      const repeats = isNamed ? yield* this.repeats([name]) : null;
      const isFew = repeats !== null && repeats.count <= most && repeats.count * 2 < this.#records;
      if (isFew) near.push(repeats);
    }
    return near;
  }

  /** Columns that are named as an identity, or are the first, and never repeat. */
  *distinct(): Generator<undefined, string[], undefined> {
    const found: string[] = [];
    for (const { name, isNamed } of this.#columns ?? []) {
      if (isNamed && (yield* this.repeats([name])) === null) found.push(name);
    }
    return found;
  }

  /** The records that repeat values of these columns, counted up to `most`. Null for none, or where a column is not compared. */
  *repeats(
    names: readonly string[],
    most = Number.POSITIVE_INFINITY,
  ): Generator<undefined, Repeats | null, undefined> {
    const columns = this.#columns?.filter(({ name }) => names.includes(name)) ?? [];
    if (columns.length < names.length) return null;
    const seen = new Set<number>();
    const lines: number[] = [];
    let count = 0;
    for (const [i, line] of this.#lines.entries()) {
      if (i % STEP_RECORDS === 0) yield;
      const mixed = columns.reduce((sum, { hashes }) => sum * MIX + (hashes[i] ?? 0), 0);
      if (!Number.isNaN(mixed) && !seen.has(mixed)) {
        seen.add(mixed);
        continue;
      }
      if (lines.length < TOLD_LINES) lines.push(line);
      if (++count === most) break;
    }
    return count === 0 ? null : { columns: names, count, lines };
  }

  /** The likeliest key of these columns; null when every candidate repeats. */
  *best(columns: readonly KeyColumn[]): Generator<undefined, KeyCandidate | null, undefined> {
    const candidates = [
      ...singleCandidates(this.#table, columns),
      ...joinedCandidates(this.#table, columns),
    ].toSorted((a, b) => a.rank - b.rank);
    const known = new Set(this.#columns?.map(({ name }) => name));
    let best: KeyCandidate | null = null;
    for (const candidate of candidates) {
      const isCompared = candidate.columns.every((name) => known.has(name));
      if (!isCompared || (yield* this.repeats(candidate.columns, 1)) !== null) continue;
      best = candidate;
      break;
    }
    if (best === null || this.#records <= MAX_RECORDS) return best;
    const count = formatCount(MAX_RECORDS);
    return { ...best, reason: `${best.reason}, as far as compared: in the first ${count} records` };
  }
}

const words = new Uint32Array(HASH_WORDS);

/** A hash of 53 bits, the same for values that are one in the key. */
function hashOf(value: Exclude<JsonValue, null>): number {
  hashText(keyText(value), words);
  return (words[0] ?? 0) * HALF + ((words[1] ?? 0) % HALF);
}

function keyText(value: Exclude<JsonValue, null>): string {
  if (typeof value === "string") return parseDateTime(value) ?? value;
  if (isNumber(value)) return numberText(value);
  return JSON.stringify(value);
}

/** Every single column, the likeliest first. */
function singleCandidates(table: string, columns: readonly KeyColumn[]): KeyCandidate[] {
  const candidates = columns.map((column, place): KeyCandidate => {
    const { rank, reason } = rankOf(table, column, place);
    const isByValues = rank > RANKS.code;
    return { columns: [column.name], rank: rank + place / 1_000, reason, isByValues };
  });
  return candidates.toSorted((a, b) => a.rank - b.rank);
}

/** The column that a header without records names as an identity, else its first. */
export function nameKey(table: string, names: readonly string[]): KeyCandidate | null {
  const columns = names.map((name) => ({ name, isTime: false }));
  const [best] = singleCandidates(table, columns);
  const isNamed = best !== undefined && !best.isByValues;
  const [first] = names;
  if (first === undefined) return null;
  const reason = isNamed ? "its name says so" : "it is the first";
  return { columns: isNamed ? best.columns : [first], rank: 0, reason, isByValues: true };
}

/** Pairs and triples of the columns that are most like parts of a key. */
function joinedCandidates(table: string, columns: readonly KeyColumn[]): KeyCandidate[] {
  const ranked = columns
    .map((column, place) => ({ ...column, place, rank: partRank(table, column, place) }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_PARTS);
  const candidates: KeyCandidate[] = [];
  const add = (base: number, parts: typeof ranked) => {
    const inOrder = parts.toSorted((a, b) => a.place - b.place);
    const names = inOrder.map(({ name }) => name);
    const rank = base + parts.reduce((sum, part) => sum + part.rank, 0) / 10;
    candidates.push({
      columns: names,
      rank,
      reason: "no column alone does, these together do",
      isByValues: true,
    });
  };
  for (const [i, a] of ranked.entries()) {
    for (const [j, b] of ranked.entries()) {
      if (j <= i) continue;
      add(RANKS.pair, [a, b]);
      for (const c of ranked.slice(j + 1)) add(RANKS.triple, [a, b, c]);
    }
  }
  return candidates;
}

function rankOf(table: string, { name, isTime }: KeyColumn, place: number) {
  const words = wordsOfName(name);
  const singular = wordsOfName(table).replace(/ies$/, "y").replace(/s$/, "");
  const isOwn = OWN_ID.test(words) || (ID.test(words) && words.startsWith(`${singular}_`));
  if (isOwn) return { rank: RANKS.ownId, reason: "its name says so, and every value differs" };
  if (ID.test(words))
    return { rank: RANKS.id, reason: "its name ends so, and every value differs" };
  if (CODE.test(words))
    return { rank: RANKS.code, reason: "its name says so, and every value differs" };
  const reason = "every value differs";
  if (MEASURE.test(words)) return { rank: RANKS.measure, reason };
  if (isTime) return { rank: RANKS.time, reason };
  return { rank: place === 0 ? RANKS.first : RANKS.other, reason };
}

/** 0 to 99: columns named as an identity first, then by place, measures last. */
function partRank(table: string, column: KeyColumn, place: number): number {
  const { rank } = rankOf(table, column, place);
  if (rank <= RANKS.code) return Math.min(place, 9);
  const base = rank === RANKS.measure ? 60 : rank === RANKS.time ? 30 : 10;
  return base + Math.min(place, 19);
}

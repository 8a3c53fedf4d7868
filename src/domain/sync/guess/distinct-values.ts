// Finds out which columns, alone or together, never have the same values twice.
import { HASH_WORDS, hashText } from "../../shared/hash.ts";
import { isRawNumber, type JsonObject, type JsonValue, numberText } from "../../shared/json.ts";
import { parseDateTime } from "../../shared/time.ts";
import type { KeyCandidate } from "./key-candidates.ts";

/** Hashes kept at once; one takes about 40 bytes. */
const MAX_HASHES = 1_000_000;
const HALF = 0x200000;

interface Watched {
  readonly candidate: KeyCandidate;
  readonly seen: Set<number>;
}

/**
 * Watches candidates over the records of a file, with bounded memory: a candidate that repeats is dropped, and where too
 * much would have to be remembered the least believed one is. The last one is then believed for the records so far.
 */
export class DistinctValues {
  /** The most believed first. */
  #watched: Watched[];
  #hashes = 0;
  #isFull = false;
  #records = 0;
  readonly #words = new Uint32Array(HASH_WORDS);

  constructor(candidates: readonly KeyCandidate[]) {
    this.#watched = candidates.map((candidate) => ({ candidate, seen: new Set() }));
  }

  /** True while a candidate is left. */
  get isOpen(): boolean {
    return this.#watched.length > 0;
  }

  add(record: JsonObject): void {
    if (this.#isFull || this.#watched.length === 0) return;
    this.#records++;
    const repeated: Watched[] = [];
    for (const watched of this.#watched) {
      const hash = this.#hashOf(watched.candidate.columns, record);
      if (hash === null || watched.seen.has(hash)) repeated.push(watched);
      else watched.seen.add(hash);
    }
    if (repeated.length > 0) this.#watched = this.#watched.filter((one) => !repeated.includes(one));
    this.#hashes = this.#watched.length * this.#records;
    if (this.#hashes <= MAX_HASHES) return;
    if (this.#watched.length > 1) this.#watched.pop();
    else this.#isFull = true;
  }

  /** Those that never repeated, the most believed first. */
  candidates(): KeyCandidate[] {
    return this.#watched.map(({ candidate }) => candidate);
  }

  /** Records that were compared, when those are not all; else null. */
  comparedOnly(): number | null {
    return this.#isFull ? this.#records : null;
  }

  /** Of 53 bits; null when a part of the key is empty. */
  #hashOf(columns: readonly string[], record: JsonObject): number | null {
    let text = "";
    for (const column of columns) {
      const value = Object.hasOwn(record, column) ? (record[column] ?? null) : null;
      if (value === null || value === "") return null;
      text += `${keyText(value)}\u0000`;
    }
    hashText(text, this.#words);
    return (this.#words[0] ?? 0) * HALF + ((this.#words[1] ?? 0) % HALF);
  }
}

/** The same text for values that would be one in the key. */
function keyText(value: Exclude<JsonValue, null>): string {
  if (typeof value === "string") return parseDateTime(value) ?? value;
  if (typeof value === "number" || isRawNumber(value)) return numberText(value);
  return JSON.stringify(value);
}

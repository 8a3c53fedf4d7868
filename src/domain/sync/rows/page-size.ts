// The bytes of JSON and the values that rows take, so that a page can end before it is too large. D-7.9, D-11.2.
import { isJsonObject, isRawNumber, type JsonValue, utf8Bytes } from "../../shared/json.ts";
import { MAX_JSON_VALUES } from "../../shared/limits.ts";
import type { ColumnValue, Row } from "../table/table.ts";

/** JSON never has more bytes of UTF-8 than this for a code unit: `\u0000`. */
const MAX_BYTES_PER_UNIT = 6;
/** More than any number that is no `RawNumber`, `false` and `null` take. */
const MAX_WORD_BYTES = 32;

/** More values than a page has outside of its records. D-11.2. */
const OTHER_VALUES = 100;

/** Tells when a page is full. Rows are only estimated while the page is far from full, which costs next to nothing. */
export class PageSize {
  readonly #maxBytes: number;
  readonly #maxValues: number;
  /** An upper bound of the bytes of the list so far: a bracket, and each row with a comma or the other bracket. */
  #bytes = 1;
  #values = OTHER_VALUES;
  #isEmpty = true;
  /** The rows that `#bytes` estimates. */
  #estimated: Row[] = [];
  #estimatedBytes = 0;

  /** `maxBytes` is for the list of records with its brackets and commas; infinite: rows are only measured. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#maxValues = maxBytes === Number.POSITIVE_INFINITY ? maxBytes : MAX_JSON_VALUES;
  }

  /** An upper bound of the bytes of the list so far, 1 or more. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes the next row; false when it makes the page too large, which the first row never does. */
  takes(row: Row): boolean {
    const isFirst = this.#isEmpty;
    this.#isEmpty = false;
    let estimate = 3;
    this.#values++;
    for (const name in row) {
      const value = row[name] ?? null;
      estimate += name.length + 4 + estimatedValueBytes(value);
      this.#values += typeof value === "object" && value !== null ? valuesOf(value) : 1;
    }
    if (!isFirst && this.#values > this.#maxValues) return false;
    if (this.#bytes + estimate <= this.#maxBytes) {
      this.#bytes += estimate;
      this.#estimated.push(row);
      this.#estimatedBytes += estimate;
      return true;
    }
    this.#measure();
    const bytes = rowBytes(row);
    if (!isFirst && this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  #measure(): void {
    this.#bytes -= this.#estimatedBytes;
    for (const row of this.#estimated) this.#bytes += rowBytes(row);
    this.#estimated = [];
    this.#estimatedBytes = 0;
  }
}

/** The number of values in a value: itself and all that are in it. D-11.2. */
export function valuesOf(value: JsonValue): number {
  let count = 1;
  if (Array.isArray(value)) for (const item of value) count += valuesOf(item);
  else if (isJsonObject(value)) for (const name in value) count += valuesOf(value[name] ?? null);
  return count;
}

/** Bytes of a row in a list of records, with its comma or the bracket behind the last. */
function rowBytes(row: Row): number {
  return utf8Bytes(JSON.stringify(row)) + 1;
}

/** An upper bound. */
function estimatedValueBytes(value: ColumnValue): number {
  if (typeof value === "string") return value.length * MAX_BYTES_PER_UNIT + 2;
  if (typeof value !== "object" || value === null) return MAX_WORD_BYTES;
  if (isRawNumber(value)) return value.rawJSON.length;
  return JSON.stringify(value).length * MAX_BYTES_PER_UNIT;
}

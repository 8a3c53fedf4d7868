// The kinds of single values in a file, the types that understand them, and the values that do not fit a type. D-14.1.
import { isSameDecimal, parseDecimal, parseInt64 } from "../../shared/decimal.ts";
import {
  isNumber,
  type JsonValue,
  jsonProblem,
  numberText,
  parseJsonOr,
} from "../../shared/json.ts";
import { JSON_NUMBER } from "../../shared/json-reader.ts";
import { parseDate, parseDateTime } from "../../shared/time.ts";
import { markedValue, readCsvField, readFileNumber } from "../rows/csv-fields.ts";
import { importValue } from "../rows/import-value.ts";
import type { ColumnType } from "../table/column-types.ts";
import type { Column, EpochUnit, FileForm } from "../table/table.ts";

/** The form of the values of a file: fields without types, as JSON, or as SQLite holds them. */
export type ValueForm = "field" | "json" | "sqlite";

/**
 * - `bit`: 0 or 1, which is a whole number or a boolean. `flag`: true, false. `word`: yes, no, on, off, y, n, t, f.
 * - `integer`: a whole number that every program reads exactly; `seconds`, `millis`: one that may be a time from 1973 to 2286;
 *   `bigint`: one within ±(2^63-1); `huge`: one beyond it.
 * - `decimal`: a number with a fraction; `quoted`: one in a text of JSON; `float`: one that is a double to the last digit, as
 *   measurements are written.
 * - `date`, `datetime`: as ISO 8601 writes them, or the files of the table. `json`: a field with an object or array; `object`:
 *   one of JSON. `broken`: what no column takes, such as a lone surrogate. `text`: all else.
 */
export type ValueKind =
  | "bit"
  | "flag"
  | "word"
  | "integer"
  | "seconds"
  | "millis"
  | "bigint"
  | "huge"
  | "decimal"
  | "quoted"
  | "float"
  | "date"
  | "datetime"
  | "json"
  | "object"
  | "broken"
  | "text";

const FLAG = /^(?:true|false)$/i;
const WORD = /^(?:yes|no|on|off|y|n|t|f)$/i;
/** Leading zeros and a plus sign mean a code or a telephone number. */
const WHOLE = /^(?:0|-?[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][+-]?\d+)?$/;
/** A decimal with so many digits was made by a program from a double. */
const DOUBLE_DIGITS = 16;

export const WHOLES: readonly ValueKind[] = ["bit", "integer", "seconds", "millis", "bigint"];
export const NUMBERS: readonly ValueKind[] = [...WHOLES, "huge", "decimal", "quoted", "float"];
export const FLAGS: readonly ValueKind[] = ["flag", "word", "bit"];
export const TIMES: readonly ValueKind[] = ["date", "datetime"];
/** The kinds that each type understands; `#reads` adds epochs and JSON. */
export const READS: Readonly<Record<Exclude<ColumnType, "text" | "json">, readonly ValueKind[]>> = {
  integer: WHOLES,
  bigint: [...WHOLES, "huge"],
  numeric: NUMBERS,
  real: NUMBERS.filter((kind) => kind !== "quoted"),
  boolean: FLAGS,
  date: TIMES,
  datetime: TIMES,
};

/** The kind of a field of a CSV file, which has no type of its own. */
export function kindOfField(field: string, files: FileForm | null): ValueKind {
  if (field === "0" || field === "1") return "bit";
  const first = field.charCodeAt(0);
  const isNumeric = first === 0x2d || first === 0x2e || (first >= 0x30 && first <= 0x39);
  if (isNumeric) {
    const { decimal = null, dateFormat = null } = files ?? {};
    const text = decimal === null ? field : readFileNumber(field, decimal);
    return (
      (text === null ? null : numberKind(text)) ??
      timeKind(dateFormat?.read(field) ?? field) ??
      "text"
    );
  }
  if (field.startsWith("{") || field.startsWith("[")) {
    const value = parseJsonOr(field, null);
    return value !== null && jsonProblem(value) === null ? "json" : "text";
  }
  if (FLAG.test(field)) return "flag";
  return WORD.test(field) ? "word" : "text";
}

/** The kind of a value of a JSON file. In quotes only times, dates and decimals with a point are more than texts. */
export function kindOfJson(value: Exclude<JsonValue, null>): ValueKind {
  if (typeof value === "boolean") return "flag";
  if (jsonProblem(value) !== null) return "broken";
  if (typeof value === "string") {
    const isDecimal = value.includes(".") && numberKind(value) === "decimal";
    return timeKind(value) ?? (isDecimal ? "quoted" : "text");
  }
  if (isNumber(value)) {
    if (value === 0 || value === 1) return "bit";
    return numberKind(numberText(value)) ?? "text";
  }
  return "object";
}

function timeKind(text: string): ValueKind | null {
  if (text.length === 10) return parseDate(text) === null ? null : "date";
  return text.length > 10 && parseDateTime(text) !== null ? "datetime" : null;
}

/** Null for a text that is no number. */
function numberKind(text: string): ValueKind | null {
  if (WHOLE.test(text)) {
    if (text.length >= 16 && !Number.isSafeInteger(Number(text))) {
      return parseInt64(text) === null ? "huge" : "bigint";
    }
    const number = Number(text);
    if (number >= 1e8 && number < 1e10) return "seconds";
    return number >= 1e11 && number < 1e13 ? "millis" : "integer";
  }
  if (!NUMBER.test(text) || parseDecimal(text) === null) return null;
  return isDouble(text) ? "float" : "decimal";
}

/** True for a text that a program made of a double: with an exponent or as many digits as doubles have, and equal to a double. */
function isDouble(text: string): boolean {
  if (!JSON_NUMBER.test(text)) return false;
  const digits = text.replace(/[eE].*$/, "").replace(/^-?0?\.?0*|\D/g, "").length;
  if (!/[eE]/.test(text) && digits < DOUBLE_DIGITS) return false;
  const number = Number(text);
  return Number.isFinite(number) && isSameDecimal(text, String(number));
}

/** The number of values that a type does not understand, and the first of them, for people. */
export interface Misfits {
  readonly count: number;
  readonly text: string;
  readonly line: number;
}

/** The ways to read values. Which one counts is known after the last value. */
type Reading = "plain" | "key" | EpochUnit;

const READINGS: Partial<Record<ColumnType, readonly Reading[]>> = {
  bigint: ["plain", "key"],
  datetime: ["plain", "seconds", "milliseconds"],
};

/** A type that somebody wants for a column: counts the values that an import would fail, by the import's own conversion. */
export class WantedType {
  readonly type: ColumnType;
  /** The form of fields; null for values that have types of their own. */
  readonly #files: FileForm | null;
  readonly #misfits = new Map<Reading, Misfits>();

  constructor(type: ColumnType, files: FileForm | null) {
    this.type = type;
    this.#files = files;
  }

  /** `text` shows the value to people. */
  add(value: Exclude<JsonValue, null>, text: string, line: number): void {
    for (const reading of READINGS[this.type] ?? ["plain"]) {
      if (this.#isTaken(value, reading)) continue;
      const before = this.#misfits.get(reading) ?? { count: 0, text, line };
      this.#misfits.set(reading, { ...before, count: before.count + 1 });
    }
  }

  /** `epoch` is the unit of numbers that are times. */
  misfits(isKey: boolean, epoch: EpochUnit | null): Misfits | null {
    const reading = (isKey ? "key" : epoch) ?? "plain";
    const isOther = READINGS[this.type]?.includes(reading) === true;
    return this.#misfits.get(isOther ? reading : "plain") ?? null;
  }

  #isTaken(value: Exclude<JsonValue, null>, reading: Reading): boolean {
    const column: Column = {
      name: "",
      type: this.type,
      nullable: true,
      maxLength: null,
      serialize: true,
      autoIncrement: false,
      isKey: reading === "key",
    };
    const isEpoch = reading === "seconds" || reading === "milliseconds";
    const epoch = new Map(isEpoch ? [[column.name, reading]] : []);
    const field = this.#files !== null && typeof value === "string" ? value : null;
    const read =
      this.#files === null || field === null ? value : readCsvField(column, field, this.#files);
    if (read === undefined) return false;
    const rule = { timestampColumn: null, files: { epoch } };
    const imported = importValue(rule, column, read, markedValue(field) !== undefined);
    return imported.problem === null && imported.oddity === null;
  }
}

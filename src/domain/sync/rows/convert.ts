// Turns a pushed record into a row of the table, and values into the texts that stores keep. S-4.2.7, S-4.2.8, D-3.3, D-3.5.

import { isSameDecimal, isWholeNumber, parseDecimal, parseInt64 } from "../../shared/decimal.ts";
import {
  exactInteger,
  ILL_FORMED,
  isJsonObject,
  isNumber,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  jsonProblem,
  numberText,
  parseJsonOr,
  type RawNumber,
  rawNumber,
} from "../../shared/json.ts";
import {
  isCanonicalDate,
  isCanonicalDateTime,
  parseDate,
  parseDateTime,
} from "../../shared/time.ts";
import type { ColumnType } from "../table/column-types.ts";
import {
  type Column,
  type ColumnValue,
  type Row,
  type Table,
  timestampColumnOf,
} from "../table/table.ts";
import { isTimeless, rowTimeText } from "./row-time.ts";

/** A record that can be written, or kept out. */
export interface ConvertedRow {
  /** The table's `pushColumns`. An absent one stays as it is, and is null in a new row. */
  readonly row: Row;
  /** Why it fails where its row would be new and no tombstone keeps it out; absent where it may be new. */
  readonly refusedIfNew?: string;
  /** Why it fails where no newer row and no tombstone keeps it out; absent where it may be written. */
  readonly refused?: string;
}

export type ConvertedRecord =
  | (ConvertedRow & { readonly problem: null })
  | { readonly row: null; readonly problem: string };

type ConvertedValue = { readonly value: ColumnValue } | { readonly problem: string };

/**
 * Converts one element of `records`. Other fields than push columns are ignored. Missing columns become null, or stay absent with
 * `serialize: false`. Fails for an element that is no object, a key column that is missing or null, and a value beyond its column's
 * limits; in a stamped table also for a missing time, unless `isStamped` says that the record will get one. D-14.2.
 */
export function convertRecord(table: Table, record: JsonValue, isStamped = false): ConvertedRecord {
  if (!isJsonObject(record)) return failed("record is not an object");
  const { row, problem } = convertFields(table.pushColumns, record, ({ serialize }) => !serialize);
  if (row === null) return failed(problem);
  const lack = isStamped ? null : timeProblem(table, row);
  return lack === null ? { row, problem: null } : failed(lack);
}

/** The row of a record in these columns, up to the first that fails; a missing one is null, or absent where it `mayLack`. */
export function convertFields(
  columns: readonly Column[],
  record: JsonObject,
  mayLack?: (column: Column) => boolean,
): ConvertedRecord {
  const row: Record<string, ColumnValue> = {};
  for (const column of columns) {
    const isGiven = Object.hasOwn(record, column.name);
    if (!isGiven && mayLack?.(column)) continue;
    const converted = convertValue(column, isGiven ? (record[column.name] ?? null) : null);
    if ("problem" in converted) return failed(`${column.name} ${converted.problem}`);
    row[column.name] = converted.value;
  }
  return { row, problem: null };
}

/** The problem of a row without the time that it needs, where nobody stamps it. D-14.2. */
function timeProblem(table: Table, row: Row): string | null {
  if (!table.stamped || !isTimeless(table, row)) return null;
  return `${table.timestampColumn} is missing or null: runs and guarded pushes bring it`;
}

/** Columns that the remote did not send, and those with `serialize: false`, stay out of the row, and so as they are here. D-2.2. */
export function convertPulled(table: Table, record: JsonValue): ConvertedRecord {
  if (!isJsonObject(record)) return failed("record is not an object");
  const columns = table.pushColumns.filter(({ serialize }) => serialize);
  const { row, problem } = convertFields(columns, record, ({ isKey }) => !isKey);
  if (row === null) return failed(problem);
  const lack = timeProblem(table, row);
  if (lack !== null) return failed(lack);
  const needed = columns.find(({ name, nullable }) => !nullable && !Object.hasOwn(row, name));
  if (needed === undefined) return { row, problem: null };
  return { row, problem: null, refusedIfNew: `${needed.name} must not be null` };
}

/** A refused record as its key and time, by which a newer row or a tombstone may keep it out; it fails without them. D-7.7. */
export function placeOfRefused(table: Table, record: JsonObject, refused: string): ConvertedRecord {
  const time = timestampColumnOf(table);
  if (time === null) return failed(refused);
  const columns = [{ ...time, nullable: true }, ...table.keyColumns];
  const { row } = convertFields(columns, { ...record, [time.name]: rowTimeText(table, record) });
  return row === null ? failed(refused) : { row, problem: null, refused };
}

/** By its column's type. S-4.2.8. */
export function convertValue(column: Column, value: JsonValue): ConvertedValue {
  if (value === null) return convertNull(column);
  if (typeof value === "string" && !value.isWellFormed()) return { problem: ILL_FORMED };
  if (column.type === "boolean") return { value: isTruthy(value) };
  if (column.type === "json") {
    const problem = jsonProblem(value);
    return problem === null ? { value } : { problem };
  }
  if (typeof value === "object" && !isRawNumber(value)) {
    return { problem: "must not be an object or an array" };
  }
  if (typeof value === "string") return convertText(column, value);
  // A `bigint` key refuses booleans; columns of other types keep them.
  if (typeof value === "boolean" && column.isKey && column.type === "bigint") {
    return convertKeyNumber(String(value));
  }
  if (typeof value === "boolean") return { value };
  return convertNumber(column, value);
}

/** True for a converted value of the type. Values that conversion left unchanged may be of another. */
export function isOfType(type: ColumnType, value: Exclude<ColumnValue, null>): boolean {
  switch (type) {
    case "json":
      return true;
    case "boolean":
      return typeof value === "boolean";
    case "text":
      return typeof value === "string";
    case "integer":
      return isNumber(value) && isWholeNumber(numberText(value));
    case "real":
      return typeof value === "number" || (isRawNumber(value) && value.rawJSON === "-0");
    case "bigint":
      return typeof value === "string" && isWholeNumber(value);
    case "numeric":
      return typeof value === "string" && parseDecimal(value) !== null;
    case "datetime":
      return typeof value === "string" && isCanonicalDateTime(value);
    case "date":
      return typeof value === "string" && isCanonicalDate(value);
  }
}

function convertNull(column: Column): ConvertedValue {
  if (column.isKey) return { problem: "is part of the key and must not be missing or null" };
  return column.nullable ? { value: null } : { problem: "must not be null" };
}

function convertText(column: Column, text: string): ConvertedValue {
  switch (column.type) {
    case "text":
      return exceeds(text, column.maxLength)
        ? { problem: `must not be longer than ${column.maxLength} characters` }
        : { value: text };
    case "bigint":
      return column.isKey ? convertKeyNumber(text) : { value: parseDecimal(text) ?? text };
    case "numeric":
      return { value: parseDecimal(text) ?? text };
    case "datetime":
      return { value: parseDateTime(text) ?? text };
    case "date":
      return { value: parseDate(text) ?? text };
    case "integer":
    case "real":
    case "boolean":
    case "json":
      return { value: text };
  }
}

function convertNumber(column: Column, value: number | RawNumber): ConvertedValue {
  switch (column.type) {
    case "integer":
      return convertInteger(value);
    case "bigint":
      if (column.isKey) return convertKeyNumber(numberText(value));
      return { value: parseDecimal(numberText(value)) ?? value };
    case "numeric":
      return { value: parseDecimal(numberText(value)) ?? value };
    case "real":
      return { value: typeof value === "number" ? value : toReal(value) };
    case "text":
    case "boolean":
    case "datetime":
    case "date":
    case "json":
      return { value };
  }
}

function convertInteger(value: number | RawNumber): ConvertedValue {
  if (Number.isSafeInteger(value)) return { value };
  const text = numberText(value);
  if (!isWholeNumber(text)) return { value };
  const integer = parseInt64(text);
  if (integer === null) return { problem: "is beyond the range of an integer, ±(2^63-1)" };
  return { value: exactInteger(integer) };
}

function convertKeyNumber(text: string): ConvertedValue {
  const integer = parseInt64(text);
  return integer === null
    ? { problem: "must be a whole number within ±(2^63-1), as it is part of the key" }
    : { value: String(integer) };
}

/** The double with exactly this value; the number unchanged when there is none. */
function toReal(value: RawNumber): number | RawNumber {
  const number = Number(value.rawJSON);
  if (!isSameDecimal(value.rawJSON, String(number))) return value;
  return Object.is(number, -0) ? rawNumber("-0") : number;
}

/** Strings by their word, others by truthiness: 0, false, [] and {} are false. S-4.2.8, D-3.3. */
function isTruthy(value: Exclude<JsonValue, null>): boolean {
  if (typeof value === "string") return /^(true|1|yes)$/i.test(value);
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  if (isRawNumber(value)) return /^-?[\d.]*[1-9]/.test(value.rawJSON);
  return Object.keys(value).length > 0;
}

function exceeds(text: string, maxCodePoints: number | null): boolean {
  if (maxCodePoints === null || text.length <= maxCodePoints) return false;
  let codePoints = 0;
  for (const _ of text) if (++codePoints > maxCodePoints) return true;
  return false;
}

function failed(problem: string): ConvertedRecord {
  return { row: null, problem };
}

// The texts in which SQLite and MongoDB keep values.

/** Undefined for a value that does not fit its type. Times have no `Z`: their bytes sort by time, with any number of digits. */
export function storedText(
  type: Column["type"],
  value: Exclude<ColumnValue, null>,
): string | undefined {
  if (type === "json") return JSON.stringify(value);
  if (typeof value !== "string") return undefined;
  if (type === "datetime") return isCanonicalDateTime(value) ? value.slice(0, -1) : undefined;
  return type !== "date" || isCanonicalDate(value) ? value : undefined;
}

/** The value of a stored text. Texts of other programs come out as near to the type as possible. */
export function readStoredText(type: Column["type"], text: string): ColumnValue {
  if (type === "datetime") {
    const canonical = `${text}Z`;
    return isCanonicalDateTime(canonical) ? canonical : (parseDateTime(text) ?? text);
  }
  if (type === "date") return text.length === 10 ? text : (parseDate(text) ?? text);
  return type === "json" ? parseJsonOr(text, text) : text;
}

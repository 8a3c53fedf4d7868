// Turns a pushed record into a row of the table. S-4.2.7, S-4.2.8, D-3.3, D-3.5.
import { isSameDecimal, isWholeNumber, parseDecimal, parseInt64 } from "../../shared/decimal.ts";
import {
  ILL_FORMED,
  isJsonObject,
  isNumber,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  jsonProblem,
  numberText,
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
import type { Column, ColumnValue, Row, Table } from "../table/table.ts";
import { isTimeless } from "./row-time.ts";

/** A record's row, or why the record fails. */
type ConvertedRecord =
  | { readonly row: Row; readonly problem: null }
  | { readonly row: null; readonly problem: string };

/** A column value, or why its record fails. */
type ConvertedValue = { readonly value: ColumnValue } | { readonly problem: string };

/**
 * Converts one element of `records`. `isStamped` says that a record without a time will get one; it fails in a stamped table
 * otherwise. D-14.2. Fields that are not push columns are ignored, missing ones become null; a missing
 * column with `serialize: false` stays absent. The record fails when it is not an object, when a key column is missing
 * or null, or when a value breaks its column's limits.
 */
export function convertRecord(table: Table, record: JsonValue, isStamped = false): ConvertedRecord {
  if (!isJsonObject(record)) return failed("record is not an object");
  const { row, problem } = convertFields(table.pushColumns, record, ({ serialize }) => !serialize);
  if (row === null) return failed(problem);
  const lack = isStamped ? null : timeProblem(table, row);
  return lack === null ? { row, problem: null } : failed(lack);
}

/**
 * The values of a record in these columns, as the table would keep them, up to the first that fails. One that is missing is
 * null, or stays absent where `mayLack` says so.
 */
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

/** Why a row that nobody stamps fails. D-14.2. */
function timeProblem(table: Table, row: Row): string | null {
  if (!table.stamped || !isTimeless(table, row)) return null;
  return `${table.timestampColumn} is missing or null: runs and guarded pushes bring it`;
}

/** The row that a pulled record writes, or why it is refused. */
type PulledRecord =
  | { readonly write: PulledRow; readonly problem: null }
  | { readonly write: null; readonly problem: string };

interface PulledRow {
  readonly row: Row;
  /** Why it is refused where no row has its key: a column that may not be null was not sent. */
  readonly refusedIfNew?: string;
}

/**
 * Converts a record that a run pulled. A column that the remote did not send stays out of the row, so that it keeps what
 * it holds here; so does one with `serialize: false`, which runs never change. D-2.2.
 */
export function convertPulled(table: Table, record: JsonValue): PulledRecord {
  if (!isJsonObject(record)) return { write: null, problem: "record is not an object" };
  const columns = table.pushColumns.filter(({ serialize }) => serialize);
  const { row, problem } = convertFields(columns, record, ({ isKey }) => !isKey);
  if (row === null) return { write: null, problem };
  const lack = timeProblem(table, row);
  if (lack !== null) return { write: null, problem: lack };
  const needed = columns.find(({ name, nullable }) => !nullable && !Object.hasOwn(row, name));
  if (needed === undefined) return { write: { row }, problem: null };
  return { write: { row, refusedIfNew: `${needed.name} must not be null` }, problem: null };
}

/** Converts one value by its column's type. S-4.2.8. */
export function convertValue(column: Column, value: JsonValue): ConvertedValue {
  if (value === null) return convertNull(column);
  if (typeof value === "string" && !value.isWellFormed()) return { problem: ILL_FORMED };
  if (column.type === "boolean") return { value: isTruthy(value) };
  if (column.type === "json") return convertJson(value);
  if (typeof value === "object" && !isRawNumber(value)) {
    return { problem: "must not be an object or an array" };
  }
  if (typeof value === "string") return convertText(column, value);
  if (typeof value === "boolean") return keyed(column, value);
  return convertNumber(column, value);
}

/** True for a converted value that is what its column's type stands for. */
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
  const number = Number(integer);
  return { value: Number.isSafeInteger(number) ? number : rawNumber(String(integer)) };
}

function convertKeyNumber(text: string): ConvertedValue {
  const integer = parseInt64(text);
  return integer === null
    ? { problem: "must be a whole number within ±(2^63-1), as it is part of the key" }
    : { value: String(integer) };
}

/** A boolean in a column of another type stays one; a `bigint` key has no place for it. */
function keyed(column: Column, value: boolean): ConvertedValue {
  return column.isKey && column.type === "bigint" ? convertKeyNumber(String(value)) : { value };
}

function convertJson(value: JsonValue): ConvertedValue {
  const problem = jsonProblem(value);
  return problem === null ? { value } : { problem };
}

/** The double with exactly that value; the number as it came when no double has it. */
function toReal(value: RawNumber): number | RawNumber {
  const number = Number(value.rawJSON);
  if (!isSameDecimal(value.rawJSON, String(number))) return value;
  return Object.is(number, -0) ? rawNumber("-0") : number;
}

/** S-4.2.8: strings by their word, others by truthiness: 0, false, [] and {} are false. D-3.3. */
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

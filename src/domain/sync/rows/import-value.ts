// Converts values for their columns, those of files and those that somebody writes by hand: as in a push, with what is to be told
// about them. D-10.3.
import {
  isNumber,
  isRawNumber,
  type JsonValue,
  numberText,
  parseJsonOr,
} from "../../shared/json.ts";
import type { ColumnType } from "../table/column-types.ts";
import type { Column, ColumnValue, Table } from "../table/table.ts";
import { convertValue, isOfType } from "./convert.ts";
import { epochTime, readNumberText } from "./csv-fields.ts";

/** The value to write, with a remark about an odd one; or why the record fails. */
type ImportedValue =
  | { readonly value: ColumnValue; readonly oddity: string | null; readonly problem: null }
  | { readonly problem: string };

const TRUE_WORD = /^(?:true|1|yes|on|y|t)$/i;
const FALSE_WORD = /^(?:false|0|no|off|n|f)$/i;

/** Remarks about values that are not of their column's type. */
const ODDITIES: Readonly<Record<ColumnType, string>> = {
  text: "is not a text",
  integer: "is not a whole number",
  bigint: "is not a whole number",
  numeric: "is not a decimal number",
  real: "is not a number",
  boolean: "is none of true, 1, yes, on, y, t, false, 0, no, off, n, f",
  datetime: "is not a time such as 2026-01-31T12:00:00Z",
  date: "is not a date such as 2026-01-31",
  json: "is not JSON",
};

interface ValueTable extends Pick<Table, "timestampColumn"> {
  readonly files: Pick<Table["files"], "epoch">;
}

/**
 * Converts a value of a file by its column's type: as a pushed one, but booleans by their words, numbers and booleans in text
 * columns as their text, and epochs by the table's `files`. Fails as a pushed value would, and for an empty key column, a boolean
 * column without a boolean, and a timestamp that is no time. Any other value that does not fit its type is odd. A value that an
 * export marked (`isExact`) is not converted, and never odd. D-10.3, D-14.7.
 */
export function importValue(
  table: ValueTable,
  column: Column,
  value: JsonValue,
  isExact = false,
): ImportedValue {
  if (value === "" && column.isKey && !isExact) {
    return { problem: "is part of the key and must not be empty" };
  }
  const given = isExact ? value : givenValue(table, column, value);
  if (given === undefined) return { problem: ODDITIES.boolean };
  const converted = convertValue(column, given);
  if ("problem" in converted) return converted;
  if (isExact) return { value, oddity: null, problem: null };
  const { value: result } = converted;
  if (result === null || isOfType(column.type, result)) {
    return { value: result, oddity: null, problem: null };
  }
  const isOther = column.type === "real" && isNumber(result);
  const oddity = isOther ? "is a number that no double holds" : ODDITIES[column.type];
  if (column.name !== table.timestampColumn) return { value: result, oddity, problem: null };
  return { problem: `${oddity}, which the timestamp column needs` };
}

/** The value as a push would send it; undefined for a boolean column without a boolean. */
function givenValue(
  { files }: ValueTable,
  column: Column,
  value: JsonValue,
): JsonValue | undefined {
  if (value === null) return null;
  switch (column.type) {
    case "boolean":
      return readBoolean(value);
    case "text":
      if (typeof value === "boolean") return String(value);
      return isNumber(value) ? numberText(value) : value;
    case "datetime": {
      const unit = files.epoch.get(column.name);
      return (unit === undefined ? null : epochTime(value, unit)) ?? value;
    }
    default:
      return value;
  }
}

/** The remark about a field of CSV that its column does not read. */
export function fieldOddity({ type }: Column): string {
  return ODDITIES[type];
}

/** Undefined for what is neither true nor false. */
function readBoolean(value: Exclude<JsonValue, null>): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "object" && !isRawNumber(value)) return undefined;
  const word = typeof value === "string" ? value : String(Number(numberText(value)));
  if (TRUE_WORD.test(word)) return true;
  return FALSE_WORD.test(word) ? false : undefined;
}

/** A value as its column keeps it, or why it does not. */
export type ReadValue = { readonly value: ColumnValue } | { readonly message: string };

/** Reads a value that somebody sends as an import does, and refuses one that does not fit its type. D-14.3. */
export function readValueByHand(table: ValueTable, column: Column, value: JsonValue): ReadValue {
  const read = importValue(table, column, withNumber(column, value));
  if (read.problem !== null) return { message: read.problem };
  return read.oddity === null ? { value: read.value } : { message: read.oddity };
}

/** Numbers may be texts, as browsers lose their digits. */
export function withNumber(column: Column, value: JsonValue): JsonValue {
  return typeof value === "string" ? readNumberText(column, value) : value;
}

/**
 * Reads what somebody types into a form: JSON and booleans as such, else the text with all its digits; an empty one is null in all
 * but text columns.
 */
export function readTyped(
  table: Pick<Table, "timestampColumn">,
  typed: Pick<Column, "name" | "type" | "nullable" | "isKey">,
  text: string,
): ReadValue {
  const column = { ...typed, maxLength: null, serialize: true, autoIncrement: false };
  if (text === "" && column.type !== "text") return { value: null };
  if (column.type === "json") {
    const value = parseJsonOr(text, undefined);
    return value === undefined ? { message: ODDITIES.json } : { value };
  }
  if (column.type === "boolean") return { value: text === "true" };
  const read = readValueByHand({ ...table, files: { epoch: new Map() } }, column, text);
  return "message" in read ? read : { value: text };
}

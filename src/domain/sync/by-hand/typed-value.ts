// Values that somebody writes by hand, in the API or into a form of the console. D-14.3.
import { type JsonValue, parseJsonOr } from "../../shared/json.ts";
import { readNumberText } from "../rows/csv-fields.ts";
import { fieldOddity, importValue, type ValueTable } from "../rows/import-value.ts";
import type { Column, ColumnValue, Table } from "../table/table.ts";

/** A value as its column keeps it, or why it does not. */
export type ReadValue = { readonly value: ColumnValue } | { readonly message: string };

/** Reads a value as an import does, and refuses a value that does not fit its type. */
export function readValueByHand(table: ValueTable, column: Column, value: JsonValue): ReadValue {
  const read = importValue(table, column, withNumber(column, value));
  if (read.problem !== null) return { message: read.problem };
  return read.oddity === null ? { value: read.value } : { message: read.oddity };
}

/** Numbers may be texts, as browsers lose their digits. */
export function withNumber(column: Column, value: JsonValue): JsonValue {
  return typeof value === "string" ? readNumberText(column, value) : value;
}

/** JSON and booleans as such, else the text with all its digits; an empty one is null in all but text columns. */
export function readTyped(
  table: Pick<Table, "timestampColumn">,
  typed: Pick<Column, "name" | "type" | "nullable" | "isKey">,
  text: string,
): ReadValue {
  const column = { ...typed, maxLength: null, serialize: true, autoIncrement: false };
  if (text === "" && column.type !== "text") return { value: null };
  if (column.type === "json") {
    const value = parseJsonOr(text, undefined);
    return value === undefined ? { message: fieldOddity(column) } : { value };
  }
  if (column.type === "boolean") return { value: text === "true" };
  const read = readValueByHand({ ...table, files: { epoch: new Map() } }, column, text);
  return "message" in read ? read : { value: text };
}

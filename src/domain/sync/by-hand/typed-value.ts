// Values that somebody writes by hand, in the API or into a form of the console. D-14.3.
import { type JsonValue, parseJson } from "../../shared/json.ts";
import { readNumberText } from "../rows/csv-fields.ts";
import { fieldOddity, importValue, type ValueTable } from "../rows/import-value.ts";
import type { Column, ColumnValue, Table } from "../table/table.ts";

/** A value as its column keeps it, or why it does not. */
export type ReadValue = { readonly value: ColumnValue } | { readonly message: string };

/** Reads a value as an import does; what its type does not understand is refused. */
export function readValueByHand(table: ValueTable, column: Column, value: JsonValue): ReadValue {
  const read = importValue(table, column, withNumber(column, value));
  if (read.problem !== null) return { message: read.problem };
  return read.oddity === null ? { value: read.value } : { message: read.oddity };
}

/** Numbers may be texts, as browsers lose their digits. */
export function withNumber(column: Column, value: JsonValue): JsonValue {
  return typeof value === "string" ? readNumberText(column, value) : value;
}

/** A column as known where rows are typed. */
type TypedColumn = Pick<Column, "name" | "type" | "nullable" | "isKey">;

/**
 * The value to send of what was typed: JSON by its text, true and false, null where a column that is none of texts is empty,
 * and else the text, with all its digits; or why the service would refuse it.
 */
export function readTyped(
  table: Pick<Table, "timestampColumn">,
  typed: TypedColumn,
  text: string,
): ReadValue {
  const column = { ...typed, maxLength: null, serialize: true, autoIncrement: false };
  if (text === "" && column.type !== "text") return { value: null };
  if (column.type === "json") return readJson(column, text);
  if (column.type === "boolean") return { value: text === "true" };
  const read = readValueByHand({ ...table, files: { epoch: NO_EPOCHS } }, column, text);
  return "message" in read ? read : { value: text };
}

const NO_EPOCHS: ValueTable["files"]["epoch"] = new Map();

function readJson(column: Column, text: string): ReadValue {
  try {
    return { value: parseJson(text) };
  } catch {
    return { message: fieldOddity(column) };
  }
}

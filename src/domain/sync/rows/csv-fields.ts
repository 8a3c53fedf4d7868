// A value as a field of a CSV file, written and read back without loss; docs/cli.md describes it for people.
import { parseDecimal, parseInt64 } from "../../shared/decimal.ts";
import {
  isNumber,
  type JsonValue,
  numberText,
  parseJson,
  parseJsonOr,
  rawNumber,
} from "../../shared/json.ts";
import { JSON_NUMBER } from "../../shared/json-reader.ts";
import { holdsDecimals } from "../table/column-types.ts";
import { plainText, writtenText } from "../table/file-values.ts";
import type { Column, ColumnValue, FileForm } from "../table/table.ts";
import { isOfType } from "./convert.ts";

/** A field of a file; null is an empty field without quotes. */
export type CsvField = string | null;

/** Marks a field as JSON text, in a column where the plain text would be read as another value. */
const JSON_MARK = "\\";

/** The field for a value. `readCsvField` and conversion turn it back into the same value. */
export function csvField(column: Column, value: ColumnValue, form: FileForm): CsvField {
  if (value === null) return null;
  return plainField(column, value, form) ?? `${JSON_MARK}${JSON.stringify(value)}`;
}

/** Null when the plain text would be read as another value, or as none of the column's type. */
function plainField(
  column: Column,
  value: Exclude<ColumnValue, null>,
  form: FileForm,
): string | null {
  switch (column.type) {
    case "json":
      return JSON.stringify(value);
    case "boolean":
      return typeof value === "boolean" ? String(value) : null;
    case "integer":
    case "real":
      if (!isNumber(value) || !isOfType(column.type, value)) return null;
      return writtenText(column, numberText(value), form);
    case "text":
      if (typeof value !== "string" || value.startsWith(JSON_MARK)) return null;
      return value === "" && column.isKey ? null : value;
    case "bigint":
    case "numeric":
    case "datetime":
    case "date":
      if (typeof value !== "string" || !isOfType(column.type, value)) return null;
      if (column.type === "bigint" && column.isKey && String(parseInt64(value)) !== value) {
        return null;
      }
      if (parseDecimal(value) !== value && holdsDecimals(column)) return null;
      return writtenText(column, value, form);
  }
}

/** The value of a field that is marked as JSON; undefined for any other. D-14.7. */
export function markedValue(field: CsvField): JsonValue | undefined {
  return field?.startsWith(JSON_MARK) === true
    ? parseJsonOr(field.slice(JSON_MARK.length), undefined)
    : undefined;
}

/** The value of a field, for conversion; undefined for no JSON, or a number not written as the table's files are. */
export function readCsvField(
  column: Column,
  field: CsvField,
  form: FileForm,
): JsonValue | undefined {
  const marked = markedValue(field);
  if (marked !== undefined) return marked;
  // Programs that quote every field quote null as well; only a text column can hold an empty text.
  if (field === null || (field === "" && column.type !== "text")) return null;
  if (column.type === "json") return parseJsonOr(field, undefined);
  const text = plainText(column, field, form);
  return text === null ? undefined : readNumberText(column, text);
}

/** The number of a text in a column of integers or doubles, with all its digits; any other text itself. */
export function readNumberText(column: Column, text: string): JsonValue {
  if (column.type === "integer") return readInteger(text);
  return column.type === "real" ? readReal(text) : text;
}

/** Accepts other spellings of a number, such as `.5` or `+5`. */
function readReal(field: string): JsonValue {
  const decimal = JSON_NUMBER.test(field) ? field : parseDecimal(field);
  return decimal === null ? field : parseJson(decimal);
}

/** Accepts other spellings of a whole number, such as `007` or `+5`. */
function readInteger(field: string): JsonValue {
  if (JSON_NUMBER.test(field)) return parseJson(field);
  const integer = parseInt64(field);
  return integer === null ? field : rawNumber(String(integer));
}

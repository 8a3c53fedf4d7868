// How a value is written as a field of a CSV file and read back without loss; docs/cli.md describes it for people.
import { isWholeNumber, parseInt64 } from "../../shared/decimal.ts";
import {
  isRawNumber,
  type JsonValue,
  numberText,
  parseJson,
  rawNumber,
} from "../../shared/json.ts";
import type { Column, ColumnValue } from "../table/table.ts";

/** A field of a file; null is an empty field without quotes. */
export type CsvField = string | null;

/** Marks a field as JSON text, in a column where the plain text would be read as another value. */
const JSON_MARK = "\\";
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The field for a value. `readCsvField` and conversion turn it back into the same value. */
export function csvField(column: Column, value: ColumnValue): CsvField {
  if (value === null) return null;
  if (column.type === "json") return JSON.stringify(value);
  return plainField(column, value) ?? `${JSON_MARK}${JSON.stringify(value)}`;
}

/** Null when the plain text would be read as another value. */
function plainField(column: Column, value: Exclude<ColumnValue, null>): string | null {
  switch (column.type) {
    case "boolean":
      return typeof value === "boolean" ? String(value) : null;
    case "integer":
      return isNumber(value) && isWholeNumber(numberText(value)) ? numberText(value) : null;
    case "real":
      return typeof value === "number" ? numberText(value) : null;
    case "text":
      return typeof value === "string" && !value.startsWith(JSON_MARK) ? value : null;
    default:
      return typeof value === "string" && value !== "" && !value.startsWith(JSON_MARK)
        ? value
        : null;
  }
}

/** The value of a field, to be converted by its column's type; undefined when it should be JSON and is not. */
export function readCsvField(column: Column, field: CsvField): JsonValue | undefined {
  // Programs that quote every field quote null as well; only a text column can hold an empty text.
  if (field === null || (field === "" && column.type !== "text")) return null;
  if (column.type === "json") return tryParse(field);
  if (field.startsWith(JSON_MARK)) {
    const value = tryParse(field.slice(JSON_MARK.length));
    if (value !== undefined) return value;
  }
  if (column.type === "integer") return readInteger(field);
  if (column.type === "real" && JSON_NUMBER.test(field)) return parseJson(field);
  return field;
}

/** Accepts other spellings of a whole number, such as `007` or `+5`. */
function readInteger(field: string): JsonValue {
  if (JSON_NUMBER.test(field)) return parseJson(field);
  const integer = parseInt64(field);
  return integer === null ? field : rawNumber(String(integer));
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isNumber(value: ColumnValue): value is number | ReturnType<typeof rawNumber> {
  return typeof value === "number" || isRawNumber(value);
}

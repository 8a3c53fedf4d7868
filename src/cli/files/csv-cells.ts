// How a cell is written as a field of a CSV file and read back without loss; docs/cli.md describes it for people.
import { isWholeNumber, parseInt64 } from "../../domain/shared/decimal.ts";
import {
  isRawNumber,
  type JsonValue,
  numberText,
  parseJson,
  rawNumber,
} from "../../domain/shared/json.ts";
import type { Cell, Column } from "../../domain/sync/table/table.ts";

/** A field as it stands in a file; null is an empty one without quotes. */
export type CsvField = string | null;

/** Begins a field that is JSON text in a column where a plain one would be read as something else. */
const JSON_MARK = "\\";
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The field for a cell. `readCsvField` makes of it what conversion turns into the same cell. */
export function csvField(column: Column, cell: Cell): CsvField {
  if (cell === null) return null;
  if (column.type === "json") return JSON.stringify(cell);
  return plainField(column, cell) ?? `${JSON_MARK}${JSON.stringify(cell)}`;
}

/** Null where the plain text would not come back as this cell. */
function plainField(column: Column, cell: Exclude<Cell, null>): string | null {
  switch (column.type) {
    case "boolean":
      return typeof cell === "boolean" ? String(cell) : null;
    case "integer":
      return isNumber(cell) && isWholeNumber(numberText(cell)) ? numberText(cell) : null;
    case "real":
      return typeof cell === "number" ? numberText(cell) : null;
    case "text":
      return typeof cell === "string" && !cell.startsWith(JSON_MARK) ? cell : null;
    default:
      return typeof cell === "string" && cell !== "" && !cell.startsWith(JSON_MARK) ? cell : null;
  }
}

/** The value that a field stands for, to be converted as a pushed one, or what is wrong with it. */
export function readCsvField(
  column: Column,
  field: CsvField,
): { readonly value: JsonValue; readonly problem: null } | { readonly problem: string } {
  // Programs that quote every field quote what is null, too; only in a text can that be told apart.
  if (field === null || (field === "" && column.type !== "text")) return found(null);
  if (column.type === "json") {
    const value = tryParse(field);
    return value === undefined ? { problem: "is not JSON" } : found(value);
  }
  if (field.startsWith(JSON_MARK)) {
    const value = tryParse(field.slice(JSON_MARK.length));
    if (value !== undefined) return found(value);
  }
  if (column.type === "integer") return found(readInteger(field));
  if (column.type === "real" && JSON_NUMBER.test(field)) return found(parseJson(field));
  return found(field);
}

/** Other spellings of a whole number, such as `007` or `+5`, are one too. */
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

function isNumber(cell: Cell): cell is number | ReturnType<typeof rawNumber> {
  return typeof cell === "number" || isRawNumber(cell);
}

function found(value: JsonValue): { readonly value: JsonValue; readonly problem: null } {
  return { value, problem: null };
}

// Rows that people look at: those that they look for, and how browsers show them, where numbers are doubles. D-9.5, D-14.5.
import { isSameDecimal } from "../../shared/decimal.ts";
import {
  isJsonObject,
  isNumber,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  numberText,
} from "../../shared/json.ts";
import { cutText, hashHex } from "../../shared/text.ts";
import { markedValue, readCsvField } from "../rows/csv-fields.ts";
import { importValue } from "../rows/import-value.ts";
import { isSameValue } from "../rows/row-key.ts";
import { type Column, type ColumnValue, fileFormOf, type Row, type Table } from "../table/table.ts";

/** Orders of rows; `-` is from the end. In a table without timestamps `time` is the order of the key. */
export const ROW_ORDERS = ["key", "-key", "time", "-time"] as const;

export type RowOrder = (typeof ROW_ORDERS)[number];

/** Numbers and times are written as on pages, whatever the table's files are like. */
const PLAIN = fileFormOf();

export type RowFilter = (row: Row) => boolean;

type ReadFilter =
  | { readonly filter: RowFilter; readonly problem: null }
  | { readonly filter: null; readonly problem: string };

/**
 * Reads `column:text`: a column of texts contains the text, letter case aside; any other equals it as a value, read as a field
 * of a CSV file, so that an empty text is null. Fails for a column that no page shows, and for a text that the column cannot hold.
 */
export function readRowFilter(table: Table, where: string): ReadFilter {
  const [name = ""] = where.split(":", 1);
  const column = table.pageColumns.find((each) => each.name === name);
  if (name.length === where.length || column === undefined) {
    const names = table.pageColumns.map((each) => each.name).join(", ");
    return { filter: null, problem: `Must be column:text, of the columns ${names}` };
  }
  const text = where.slice(name.length + 1);
  if (column.type === "text") return { filter: contains(column, text), problem: null };
  const value = readCsvField(column, text, PLAIN);
  const isExact = markedValue(text) !== undefined;
  const read = importValue(table, column, value === undefined ? text : value, isExact);
  if (read.problem !== null) return { filter: null, problem: `${name} ${read.problem}` };
  const { value: wanted } = read;
  return { filter: (row) => isSameValue(column, row[name] ?? null, wanted), problem: null };
}

function contains({ name }: Column, text: string): RowFilter {
  const wanted = folded(text);
  return (row) => {
    const shown = shownText(row[name] ?? null);
    return shown !== null && folded(shown).includes(wanted);
  };
}

/** Values other than text are found by the text that pages show. */
function shownText(value: ColumnValue): string | null {
  if (value === null || typeof value === "string") return value;
  return isNumber(value) ? numberText(value) : JSON.stringify(value);
}

/** Upper case first: some texts, such as `ß` and `ss`, are equal only there. */
function folded(text: string): string {
  return text.toUpperCase().toLowerCase();
}

const WHOLE = /^-?\d+$/;
/** A shorter part of a value would say nothing. */
const MIN_VALUE_CHARS = 64;

/**
 * The row with numbers that no double holds, and integers beyond 2^53, as texts. A row of more than `maxChars` characters of JSON
 * has its long values cut to equal shares of that; a cut value ends with its length and its hash, so that others still differ from
 * it.
 */
export function shownRow(row: JsonObject, maxChars = Number.POSITIVE_INFINITY): JsonObject {
  const shown = exact(row) as JsonObject;
  if (maxChars === Number.POSITIVE_INFINITY || JSON.stringify(shown).length <= maxChars) {
    return shown;
  }
  const fields = Object.entries(shown);
  const share = Math.max(MIN_VALUE_CHARS, Math.floor(maxChars / fields.length));
  return Object.fromEntries(fields.map(([name, value]) => [name, cutValue(value, share)]));
}

function exact(value: JsonValue): JsonValue {
  if (isRawNumber(value)) return isExact(value.rawJSON) ? value : value.rawJSON;
  if (Array.isArray(value)) return value.map(exact);
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).map(([name, inner]) => [name, exact(inner)]);
  return Object.fromEntries(fields);
}

/** True for a number whose value a double has. */
function isExact(text: string): boolean {
  const double = Number(text);
  if (WHOLE.test(text)) return Number.isSafeInteger(double);
  return isSameDecimal(text, String(double));
}

/** A value as it was sent, with the numbers of `here` in place of the texts that they were shown as. */
export function asStored(sent: JsonValue, here: JsonValue): JsonValue {
  if (isRawNumber(here)) return sent === exact(here) ? here : sent;
  if (Array.isArray(sent)) {
    return Array.isArray(here) ? sent.map((one, i) => asStored(one, here[i] ?? null)) : sent;
  }
  if (!isJsonObject(sent) || !isJsonObject(here)) return sent;
  const fields = Object.entries(sent).map(([name, one]) => {
    return [name, Object.hasOwn(here, name) ? asStored(one, here[name] ?? null) : one];
  });
  return Object.fromEntries(fields);
}

function cutValue(value: JsonValue, maxChars: number): JsonValue {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= maxChars) return value;
  return `${cutText(text, maxChars)} (${text.length} characters, ${hashHex(text).slice(0, 8)})`;
}

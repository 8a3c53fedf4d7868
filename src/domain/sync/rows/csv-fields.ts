// A value as a field of a CSV file, written and read back without loss; docs/cli.md describes it for people. The registry entry
// of a table describes its files (`import`): a decimal comma and groups of three, a date format, seconds since 1970. D-14.1.
import { isWholeNumber, parseDecimal, parseInt64 } from "../../shared/decimal.ts";
import {
  isNumber,
  type JsonValue,
  numberText,
  parseJson,
  parseJsonOr,
  rawNumber,
} from "../../shared/json.ts";
import { JSON_NUMBER } from "../../shared/json-reader.ts";
import {
  FIRST_TIME_MS,
  formatMs,
  LAST_TIME_MS,
  parseDate,
  parseDateTime,
} from "../../shared/time.ts";
import { holdsDecimals } from "../table/column-types.ts";
import type { Column, ColumnValue, EpochUnit, FileForm } from "../table/table.ts";
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

// Numbers and times as the files of a table write them.

/** One to three digits, then groups of three, all behind the same character. */
const groups = (between: string, point: string) =>
  new RegExp(String.raw`^[+-]?\d{1,3}(?:([${between}])\d{3}(?:\1\d{3})*)?(?:[${point}]\d+)?$`);
const PLAIN_COMMA = /^[+-]?\d*(?:,\d*)?(?:[eE][+-]?\d+)?$/;
const BLANKS = " \u00a0\u202f'\u2019";
const GROUPED = { ",": groups(`.${BLANKS}`, ","), ".": groups(`,${BLANKS}`, ".") } as const;
const GAPS = { ",": /[. \u00a0\u202f'\u2019]/g, ".": /[, \u00a0\u202f'\u2019]/g } as const;
const DIGITS_PER_UNIT: Readonly<Record<EpochUnit, number>> = { seconds: 3, milliseconds: 0 };

/** The number with a decimal point and without groups; null for a text with another decimal sign. */
export function readFileNumber(text: string, decimal: "," | "."): string | null {
  if (GROUPED[decimal].test(text)) return text.replace(GAPS[decimal], "").replace(",", ".");
  if (decimal === ".") return text;
  return PLAIN_COMMA.test(text) ? text.replace(",", ".") : null;
}

/** The field as conversion reads it; null for a number in another form than the table's files. Other times stay unchanged. */
function plainText({ type }: Column, field: string, form: FileForm): string | null {
  switch (type) {
    case "integer":
    case "bigint":
    case "numeric":
    case "real":
      return form.decimal === null ? field : readFileNumber(field, form.decimal);
    case "datetime":
    case "date":
      return form.dateFormat?.read(field) ?? field;
    case "text":
    case "boolean":
    case "json":
      return field;
  }
}

/** The field for a text that pages show; null where it would not be read as the same value. */
function writtenText(column: Column, text: string, form: FileForm): string | null {
  const { type, name } = column;
  if (type === "datetime" || type === "date") {
    const unit = form.epoch.get(name);
    const epoch = unit === undefined ? null : epochText(text, unit);
    if (epoch !== null) return epoch;
    if (form.dateFormat === null) return text;
    const parse = type === "date" ? parseDate : parseDateTime;
    const candidates = [form.dateFormat.write(text), text];
    return candidates.find((one) => parse(plainText(column, one, form) ?? "") === text) ?? null;
  }
  return form.decimal === "," ? text.replace(".", ",") : text;
}

/** The canonical time of a number since 1970; null for any other value. */
export function epochTime(value: JsonValue, unit: EpochUnit): string | null {
  if (!isNumber(value) && typeof value !== "string") return null;
  const text = parseDecimal(isNumber(value) ? numberText(value) : value);
  if (text === null || !isWholeNumber(text)) return null;
  const atMs = Number(text) * 10 ** DIGITS_PER_UNIT[unit];
  return atMs >= FIRST_TIME_MS && atMs <= LAST_TIME_MS ? formatMs(atMs) : null;
}

/** Null for a time with digits beyond the unit. */
function epochText(canonical: string, unit: EpochUnit): string | null {
  const number = Date.parse(canonical) / 10 ** DIGITS_PER_UNIT[unit];
  return epochTime(number, unit) === canonical ? String(number) : null;
}

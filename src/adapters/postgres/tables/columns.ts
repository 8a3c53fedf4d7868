// Column types on the server, and values as texts of statements and answers. D-12.1.
import {
  int64Digits,
  readDecimal,
  scientificText,
  significantDigits,
} from "../../../domain/shared/decimal.ts";
import {
  isNumber,
  isRawNumber,
  type JsonValue,
  numberText,
  parseJson,
  rawNumber,
} from "../../../domain/shared/json.ts";
import { MAX_PLAIN_DECIMAL_DIGITS } from "../../../domain/shared/limits.ts";
import { cutText } from "../../../domain/shared/text.ts";
import { isCanonicalDate, isCanonicalDateTime } from "../../../domain/shared/time.ts";
import type { Column, ColumnValue } from "../../../domain/sync/table/table.ts";

/** A value in a statement; undefined where the column cannot hold it. */
type Held = string | null | undefined;

const NEGATIVE_ZERO = /^-[0.]+(?:e|$)/;
/** How the server writes values that are no numbers, which other programs may store. */
const NO_NUMBER = /^(?:NaN|-?Infinity)$/;
/** How the server writes times without an end, and those of years that pages do not know: keys of other programs may hold them. */
const NO_END = /^-?infinity$/;
const OTHER_YEAR =
  /^((?!0000)\d{4}|[1-9]\d{4,6})(-\d\d-\d\d(?: [\d:]{8}(?:\.\d{0,5}[1-9])?\+00)?)( BC)?$/;
const MAX_BEFORE_POINT = 131_072;
const MAX_BEHIND_POINT = 16_383;
const SERVER_TIME = /^(\d{4})-(\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;
const MAX_TOLD_CHARS = 40;

/** As the server writes them. */
const TYPES: Readonly<Record<Column["type"], string>> = {
  text: "text",
  integer: "bigint",
  bigint: "numeric",
  numeric: "numeric",
  real: "double precision",
  boolean: "boolean",
  datetime: "timestamp with time zone",
  date: "date",
  json: "json",
};

export function castType({ type, isKey }: Pick<Column, "type" | "isKey">): string {
  return isKey && type === "bigint" ? "bigint" : TYPES[type];
}

/** The type with its collation. */
export function serverType(column: Pick<Column, "type" | "isKey">): string {
  return column.type === "text" ? 'text collate "C"' : castType(column);
}

/** In SQL, true for a time of the calendar, the only times that runs can order by. */
export function isOfCalendar(time: string, type: string): string {
  const [first, end] =
    type === "date"
      ? ["date '0001-01-01'", "date '10000-01-01'"]
      : ["timestamptz '0001-01-01 00:00:00+00'", "timestamptz '10000-01-01 00:00:00+00'"];
  return `${time} >= ${first} and ${time} < ${end}`;
}

/** A value in the server's form; undefined where the column cannot hold it. */
export function held(column: Pick<Column, "type" | "isKey">, value: ColumnValue): Held {
  if (value === null) return null;
  switch (column.type) {
    case "text":
      return typeof value === "string" && !value.includes("\0") ? value : undefined;
    case "integer":
      return isNumber(value) ? int64Digits(numberText(value)) : undefined;
    case "bigint":
      if (typeof value !== "string") return undefined;
      return column.isKey ? int64Digits(value) : decimal(value);
    case "numeric":
      return typeof value === "string" ? decimal(value) : undefined;
    case "real":
      return real(value);
    case "boolean":
      return typeof value === "boolean" ? String(value) : undefined;
    case "datetime":
      return isTime(value, isCanonicalDateTime, 294_276) ? value : undefined;
    case "date":
      return isTime(value, isCanonicalDate, 5_874_897) ? value : undefined;
    case "json":
      return JSON.stringify(value);
  }
}

/** The value of a column's text from the server. */
export function readValue(column: Pick<Column, "type" | "isKey">, text: unknown): ColumnValue {
  if (typeof text !== "string") return null;
  switch (column.type) {
    case "integer":
      return Number.isSafeInteger(Number(text)) ? Number(text) : rawNumber(text);
    case "bigint":
    case "numeric":
      return shortDecimal(text);
    case "real":
      return NO_NUMBER.test(text) ? text : text === "-0" ? rawNumber(text) : Number(text);
    case "boolean":
      return text === "true";
    case "datetime":
      return timeOf(text);
    case "json":
      return parseJson(text);
    default:
      return text;
  }
}

export function refusalOf({ name, type }: Pick<Column, "name" | "type">, value: JsonValue): string {
  const told = isNumber(value)
    ? `the number ${cutText(numberText(value), MAX_TOLD_CHARS)}`
    : typeof value === "boolean"
      ? `the boolean ${value}`
      : `the text ${cutText(JSON.stringify(value), MAX_TOLD_CHARS)}`;
  return `column "${name}" (${type}) cannot hold ${told}`;
}

function isTime(
  value: ColumnValue,
  isCanonical: (text: string) => boolean,
  lastYear: number,
): value is string {
  if (typeof value !== "string") return false;
  if (isCanonical(value) || NO_END.test(value)) return true;
  const [, digits, rest = "", isBefore] = OTHER_YEAR.exec(value) ?? [];
  const year = isBefore ? 1 - Number(digits) : Number(digits);
  const isKnown =
    year < 1
      ? year > -4713 || (year === -4713 && rest >= "-11-24")
      : year > 9999 && year <= lastYear;
  // Days are the same every 400 years.
  return isKnown && isCanonical(timeOf(`${2000 + (year % 400)}${rest}`));
}

function real(value: ColumnValue): Held {
  if (typeof value === "number") return numberText(value);
  if (isRawNumber(value)) return value.rawJSON === "-0" ? "-0" : undefined;
  return typeof value === "string" && NO_NUMBER.test(value) ? value : undefined;
}

/** Undefined where the server has no room for the digits and the exponent. */
function decimal(text: string): Held {
  if (NO_NUMBER.test(text)) return text;
  const decimal = readDecimal(text);
  if (decimal === null) return undefined;
  const { digits, point } = decimal;
  return point > MAX_BEFORE_POINT || digits.length - point > MAX_BEHIND_POINT ? undefined : text;
}

/** The one form of each value and scale: an exponent where zeros would make it long, and no sign for zero. */
export function shortDecimal(text: string): string {
  if (NEGATIVE_ZERO.test(text)) return shortDecimal(text.slice(1));
  if (text.length <= MAX_PLAIN_DECIMAL_DIGITS && !text.includes("e")) return text;
  const decimal = readDecimal(text);
  if (decimal === null || decimal.digits === "0") return text;
  const { isNegative, point } = decimal;
  let { digits } = decimal;
  if (point >= digits.length) digits = digits.slice(0, significantDigits(digits));
  const plainDigits = Math.max(digits.length, point, digits.length - point + 1);
  if (plainDigits <= MAX_PLAIN_DECIMAL_DIGITS || digits.length > MAX_PLAIN_DECIMAL_DIGITS) {
    return text;
  }
  return `${isNegative ? "-" : ""}${scientificText(digits, point)}`;
}

/** A time as pages show it; a time of no calendar as the server writes it. */
export function timeOf(text: string): string {
  const match = SERVER_TIME.exec(text);
  if (match === null) return text;
  const [, year, day, time, fraction] = match;
  if (fraction === undefined) return `${year}-${day}T${time}Z`;
  const micros = fraction.padEnd(6, "0");
  return `${year}-${day}T${time}.${micros.endsWith("000") ? micros.slice(0, 3) : micros}Z`;
}

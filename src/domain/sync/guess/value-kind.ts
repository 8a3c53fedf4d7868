// What a single value of a file looks like.
import { isSameDecimal, parseDecimal, parseInt64 } from "../../shared/decimal.ts";
import { isRawNumber, type JsonValue, numberText, parseJson } from "../../shared/json.ts";
import { parseDate, parseDateTime } from "../../shared/time.ts";

/**
 * - `bit`: 0 or 1, which is a whole number or a boolean. `flag`: true, false. `word`: yes, no, on, off, y, n, t, f.
 * - `integer`: a whole number that every program reads exactly; `bigint`: one within ±(2^63-1); `huge`: one beyond it.
 * - `decimal`: a number with a fraction; `float`: one that is a double to the last digit, as measurements are written.
 * - `date`, `datetime`: as ISO 8601 writes them. `json`: an object or array. `text`: all else.
 */
export type ValueKind =
  | "bit"
  | "flag"
  | "word"
  | "integer"
  | "bigint"
  | "huge"
  | "decimal"
  | "float"
  | "date"
  | "datetime"
  | "json"
  | "text";

const FLAG = /^(?:true|false)$/i;
const WORD = /^(?:yes|no|on|off|y|n|t|f)$/i;
/** Leading zeros and a plus sign mean a code or a telephone number. */
const WHOLE = /^(?:0|-?[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][+-]?\d+)?$/;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A decimal with so many digits was made by a program from a double. */
const DOUBLE_DIGITS = 16;

/** The kind of a field of a CSV file, which has no type of its own. */
export function kindOfField(text: string): ValueKind {
  if (text === "0" || text === "1") return "bit";
  const first = text.charCodeAt(0);
  const isNumeric = first === 0x2d || first === 0x2e || (first >= 0x30 && first <= 0x39);
  if (isNumeric) return numberKind(text) ?? timeKind(text) ?? "text";
  if (text.startsWith("{") || text.startsWith("[")) return isJson(text) ? "json" : "text";
  if (FLAG.test(text)) return "flag";
  return WORD.test(text) ? "word" : "text";
}

/** The kind of a value of a JSON file. In quotes only times, dates and decimals with a point are more than texts. */
export function kindOfJson(value: Exclude<JsonValue, null>): ValueKind {
  if (typeof value === "boolean") return "flag";
  if (typeof value === "string") {
    const isDecimal = value.includes(".") && numberKind(value) === "decimal";
    return timeKind(value) ?? (isDecimal ? "decimal" : "text");
  }
  if (typeof value === "number" || isRawNumber(value)) {
    if (value === 0 || value === 1) return "bit";
    return numberKind(numberText(value)) ?? "decimal";
  }
  return "json";
}

function timeKind(text: string): ValueKind | null {
  if (text.length === 10) return parseDate(text) === null ? null : "date";
  return text.length > 10 && parseDateTime(text) !== null ? "datetime" : null;
}

/** Null for what is no number, or more than one. */
function numberKind(text: string): ValueKind | null {
  if (WHOLE.test(text)) {
    if (text.length < 16 || Number.isSafeInteger(Number(text))) return "integer";
    return parseInt64(text) === null ? "huge" : "bigint";
  }
  if (!NUMBER.test(text) || parseDecimal(text) === null) return null;
  return isDouble(text) ? "float" : "decimal";
}

/** With an exponent or as many digits as a double has, and no more than it can hold. */
function isDouble(text: string): boolean {
  if (!JSON_NUMBER.test(text)) return false;
  const digits = text.replace(/[eE].*$/, "").replace(/^-?0?\.?0*|\D/g, "").length;
  if (!/[eE]/.test(text) && digits < DOUBLE_DIGITS) return false;
  const number = Number(text);
  return Number.isFinite(number) && isSameDecimal(text, String(number));
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

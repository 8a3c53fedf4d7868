// Reads stored values by meaning. A push leaves scalars it cannot convert as they came (S-4.2.8), so
// a count may be text and a text may be a number; nothing here fails, and what cannot be read is
// null.
import { parseDecimal } from "../../shared/decimal.ts";
import { fieldOf, isNumber, type JsonObject, numberText } from "../../shared/json.ts";
import { parseDateTime } from "../../shared/time.ts";

/**
 * Stands in a reply for a time that nothing stored tells: the field is text, and clients parse it.
 */
export const NO_TIME = "1970-01-01T00:00:00Z";

/**
 * A column value as text: numbers and booleans as written in JSON; null for null, a missing value, an object
 * or an array.
 */
export function readText(row: JsonObject, column: string): string | null {
  const value = fieldOf(row, column);
  if (typeof value === "string") return value;
  if (isNumber(value)) return numberText(value);
  return typeof value === "boolean" ? String(value) : null;
}

/**
 * A column value as a boolean, by the words of S-4.2.8: `true`, `1`, `yes` are true, other texts false;
 * null for null.
 */
export function readBoolean(row: JsonObject, column: string): boolean | null {
  const value = fieldOf(row, column);
  if (value === null || typeof value === "boolean") return value;
  const text = readText(row, column);
  if (typeof value === "string") return /^(true|1|yes)$/i.test(value);
  return text === null ? false : Number(text) !== 0;
}

/** A number or decimal text as a number, ±Infinity beyond its range; null for anything else. */
export function readNumber(row: JsonObject, column: string): number | null {
  const value = fieldOf(row, column);
  if (typeof value === "boolean") return null;
  const text = readText(row, column);
  const decimal = text === null ? null : parseDecimal(text);
  return decimal === null ? null : Number(decimal);
}

/**
 * A whole number from 0 to 2^53-1: fractions are cut, negative ones are 0, greater ones the
 * greatest; null as above.
 */
export function readCount(row: JsonObject, column: string): number | null {
  const number = readNumber(row, column);
  if (number === null) return null;
  return Math.min(Math.max(0, Math.floor(number)), Number.MAX_SAFE_INTEGER);
}

/** A time as pages show it (D-3.3); null when the value is not ISO 8601 text. */
export function readDateTime(row: JsonObject, column: string): string | null {
  const value = fieldOf(row, column);
  return typeof value === "string" ? parseDateTime(value) : null;
}

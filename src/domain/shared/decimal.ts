// Decimals and integers of any length, as text: a JS number would change them.
import { MAX_DECIMAL_EXPONENT, MAX_INT64, MAX_PLAIN_DECIMAL_DIGITS } from "./limits.ts";

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** The common decimal that needs no change: no exponent, plus sign or leading zero. */
const PLAIN_DECIMAL = /^(?:0|-?[1-9]\d*)(?:\.\d+)?$/;
/** A whole number of at most `INT64_DIGITS` in its one spelling. */
const DIGITS = /^(?:0|-?[1-9]\d{0,18})$/;
const INT64_DIGITS = 19;

/** A decimal taken apart: `digits` with the point before the digit at `point`, which may lie outside of them. */
interface Decimal {
  readonly isNegative: boolean;
  /** The digits as written, without leading zeros; zero is `0`. */
  readonly digits: string;
  readonly point: number;
  readonly hasExponent: boolean;
}

/**
 * Reads decimal text with an optional sign, fraction and exponent. S-4.2.8, D-3.3. Every digit stays, trailing zeros too; plus
 * sign, leading zeros and exponent go. An exponent stays that would need more than `MAX_PLAIN_DECIMAL_DIGITS` digits. Null for NaN,
 * Infinity, blanks, grouped digits, and an exponent beyond `MAX_DECIMAL_EXPONENT`. A text that it returned comes back unchanged.
 */
export function parseDecimal(text: string): string | null {
  if (PLAIN_DECIMAL.test(text)) return text;
  const decimal = readDecimal(text);
  if (decimal === null) return null;
  const { digits, point, hasExponent } = decimal;
  const plainDigits = Math.max(digits.length, point, digits.length - point + 1);
  const isPlain = !hasExponent || plainDigits <= MAX_PLAIN_DECIMAL_DIGITS;
  const magnitude = isPlain ? plainText(digits, point) : scientificText(digits, point);
  return decimal.isNegative && digits !== "0" ? `-${magnitude}` : magnitude;
}

/** The value of a whole number, however it is written; null for any other text or beyond ±(2^63-1). */
export function parseInt64(text: string): bigint | null {
  const decimal = readDecimal(text);
  if (decimal === null || !isWhole(decimal)) return null;
  const { isNegative, digits, point } = decimal;
  if (digits === "0") return 0n;
  if (point > INT64_DIGITS) return null;
  const magnitude = BigInt(digits.slice(0, point).padEnd(point, "0"));
  if (magnitude > MAX_INT64) return null;
  return isNegative ? -magnitude : magnitude;
}

/** The text itself where it is a whole number within ±(2^63-1) in its one spelling; else undefined. */
export function int64Digits(text: string): string | undefined {
  if (!DIGITS.test(text)) return undefined;
  const value = BigInt(text);
  return value >= -MAX_INT64 && value <= MAX_INT64 ? text : undefined;
}

/** True for decimal text whose value is a whole number, of any size. */
export function isWholeNumber(text: string): boolean {
  const decimal = readDecimal(text);
  return decimal !== null && isWhole(decimal);
}

export function isSameDecimal(a: string, b: string): boolean {
  const form = decimalValueForm(a);
  return form !== null && form === decimalValueForm(b);
}

/** The one text for all ways to write a decimal's value; null when the text is not a decimal. */
export function decimalValueForm(text: string): string | null {
  const decimal = readDecimal(text);
  if (decimal === null) return null;
  const { isNegative, digits, point } = decimal;
  if (digits === "0") return "0";
  return `${isNegative ? "-" : ""}${digits.slice(0, significantDigits(digits))}e${point}`;
}

/** Null for a text that `parseDecimal` does not understand. */
export function readDecimal(text: string): Decimal | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign, whole = "", fraction = "", exponentText = "0"] = match;
  if (whole === "" && fraction === "") return null;
  const exponent = Number(exponentText);
  const digits = (whole + fraction).replace(/^0+(?=\d)/, "");
  const point = digits.length - fraction.length + exponent;
  if (Math.abs(point) > MAX_DECIMAL_EXPONENT) return null;
  return { isNegative: sign === "-", digits, point, hasExponent: exponent !== 0 };
}

function plainText(digits: string, point: number): string {
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  if (digits === "0") return "0";
  if (point >= digits.length) return digits.padEnd(point, "0");
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The form with one digit before the point, and the exponent that keeps the value. */
export function scientificText(digits: string, point: number): string {
  const mantissa = digits.length === 1 ? digits : plainText(digits, 1);
  return digits === "0" || point === 1 ? mantissa : `${mantissa}e${point - 1}`;
}

function isWhole({ digits, point }: Decimal): boolean {
  return digits === "0" || significantDigits(digits) <= point;
}

/** The number of digits without the zeros at the end. A loop, as `/0+$/` takes quadratic time. */
export function significantDigits(digits: string): number {
  let count = digits.length;
  while (digits[count - 1] === "0") count--;
  return count;
}

// JSON that keeps every digit: numbers a JS number cannot hold exactly stay as their source text.
import {
  type JsonLimits,
  type JsonObject,
  JsonReader,
  type JsonValue,
  MAX_DEPTH,
  type RawNumber,
} from "./json-reader.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";

export type { JsonObject, JsonValue, RawNumber } from "./json-reader.ts";

/** The part of `JSON` that ES2026 added: raw numbers. */
interface JsonWithSource {
  rawJSON(text: string): RawNumber;
  /** Absent in runtimes older than ES2026 (Node 20), which therefore hold no raw number either. */
  isRawJSON?(value: unknown): value is RawNumber;
}

const json = JSON as unknown as JsonWithSource;

/**
 * Finds text that may hold a number whose source text differs from what JS prints for it: 16 digits or more, an
 * exponent, six zeros after the point, a fraction ending in 0, or minus zero. False alarms (inside strings) only cost
 * time; misses do not happen.
 */
const UNFAITHFUL_NUMBER =
  /(?:^|[:,[])\s*(?:-?[\d.]{16}|-?[\d.]+[eE]|-?0\.0{6}|-?\d+\.\d*0[\s,}\]]|-?\d+\.\d*0$|-0(?:[\s,}\]]|$))/;

/**
 * Parses JSON text without losing a digit (where the runtime has raw numbers, as Bun and Deno do). Throws `SyntaxError` for other
 * text, and `RangeError` for nesting too deep to parse and for more values or records than the limits.
 */
export function parseJson(text: string, limits: JsonLimits = {}): JsonValue {
  const { maxValues = Infinity, maxRecords = Infinity } = limits;
  // A value takes two characters with its comma.
  const isWithin = text.length <= 2 * Math.min(maxValues, maxRecords);
  if (isWithin && !mayBeDeep(text) && !UNFAITHFUL_NUMBER.test(text)) {
    return JSON.parse(text) as JsonValue;
  }
  const reader = new JsonReader(limits);
  reader.read(text);
  return reader.finish();
}

/** As `parseJson`; `otherwise` for a text that is no JSON. */
export function parseJsonOr<Otherwise>(text: string, otherwise: Otherwise): JsonValue | Otherwise {
  try {
    return parseJson(text);
  } catch {
    return otherwise;
  }
}

/** False where a text has too few lists and objects to be nested deeper than `MAX_DEPTH`, which the runtime's parser would read. */
function mayBeDeep(text: string): boolean {
  if (text.length <= 2 * MAX_DEPTH) return false;
  let opened = 0;
  for (const sign of ["[", "{"]) {
    for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) {
      if (++opened > MAX_DEPTH) return true;
    }
  }
  return false;
}

/** Makes a number from its JSON source text. Throws `SyntaxError` when the text is not a JSON primitive. */
export function rawNumber(source: string): RawNumber {
  return json.rawJSON(source);
}

/** An integer as a number where that is exact, else with its digits. */
export function exactInteger(integer: bigint): number | RawNumber {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : rawNumber(String(integer));
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON?.(value) ?? false;
}

/** True for a number, whichever way it is kept. */
export function isNumber(value: unknown): value is number | RawNumber {
  return typeof value === "number" || isRawNumber(value);
}

/** True for a JSON object: not null, not an array, not a raw number. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value)
  );
}

/** Why no column takes a text. */
export const ILL_FORMED = "must not hold a lone surrogate";

/** Why no column takes the value; null for one that a column of JSON takes. */
export function jsonProblem(value: JsonValue, depthLeft = MAX_JSON_DEPTH): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : ILL_FORMED;
  if (typeof value !== "object" || value === null || isRawNumber(value)) return null;
  if (depthLeft === 0) return `must not be nested deeper than ${MAX_JSON_DEPTH} levels`;
  if (Array.isArray(value)) {
    for (const member of value as readonly JsonValue[]) {
      const problem = jsonProblem(member, depthLeft - 1);
      if (problem !== null) return problem;
    }
    return null;
  }
  for (const [name, member] of Object.entries(value)) {
    if (!name.isWellFormed()) return ILL_FORMED;
    const problem = jsonProblem(member, depthLeft - 1);
    if (problem !== null) return problem;
  }
  return null;
}

/** An own field, whatever its name; null for none. */
export function fieldOf(object: JsonObject, name: string): JsonValue {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

/** The JSON source text of a number, whichever way it is kept. */
export function numberText(value: number | RawNumber): string {
  if (typeof value !== "number") return value.rawJSON;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Orders two texts by their UTF-8 bytes, as every store does: negative, 0 or positive. D-3.1. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return utf8Rank(x) - utf8Rank(y);
  }
  return a.length - b.length;
}

export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Half a pair counts two of the four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/** UTF-16 puts surrogates (code points from U+10000) before U+E000..U+FFFF; UTF-8 puts them after. */
function utf8Rank(codeUnit: number): number {
  if (codeUnit < 0xd800) return codeUnit;
  return codeUnit < 0xe000 ? codeUnit + 0x2000 : codeUnit - 0x800;
}

// Rows for people to look at in a browser, where numbers are doubles. D-9.5.
import { isSameDecimal } from "../../shared/decimal.ts";
import { hashHex } from "../../shared/hash.ts";
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue } from "../../shared/json.ts";
import { cutText } from "../../shared/text.ts";

const WHOLE = /^-?\d+$/;
/** A shorter part of a value would say nothing. */
const MIN_VALUE_CHARS = 64;

/**
 * The row with numbers that no double holds, and integers beyond 2^53, as texts. A row of more than `maxChars` characters of JSON
 * has its long values cut to equal shares of that; a cut value ends with its length and its hash, so that others still differ from
 * it.
 */
export function shownRow(row: JsonObject, maxChars = Number.POSITIVE_INFINITY): JsonObject {
  const fields = Object.entries(row).map(([name, value]): [string, JsonValue] => [
    name,
    exact(value),
  ]);
  const shown = Object.fromEntries(fields);
  if (maxChars === Number.POSITIVE_INFINITY || JSON.stringify(shown).length <= maxChars) {
    return shown;
  }
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

// Numbers and times as people's files write them: with a decimal comma and groups of three, by a date format, as seconds since
// 1970. The registry entry of a table describes its files (`import`). D-14.1.
import { isWholeNumber, parseDecimal } from "../../shared/decimal.ts";
import { isNumber, type JsonValue, numberText } from "../../shared/json.ts";
import {
  FIRST_TIME_MS,
  formatMs,
  LAST_TIME_MS,
  parseDate,
  parseDateTime,
} from "../../shared/time.ts";
import type { Column, EpochUnit, FileForm } from "./table.ts";

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
export function plainText({ type }: Column, field: string, form: FileForm): string | null {
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
export function writtenText(column: Column, text: string, form: FileForm): string | null {
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

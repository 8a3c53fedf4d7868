// ISO 8601 as D-3.2 reads it and D-3.3 writes it. Text in, text out: a JS Date would cut microseconds.

const DATE = String.raw`(\d{4})-(\d{2})-(\d{2})`;
const TIME = String.raw`(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?`;
const ZONE = String.raw`(Z|[+-]\d{2}:?\d{2})?`;
const DATE_TIME = new RegExp(`^${DATE}(?:[T ]${TIME}${ZONE})?$`);
// One match each, as stores test every value. `hasDayOfMonth` checks the length of the month.
const CANONICAL_DATE = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const CANONICAL =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(?!000Z)\d{3}(?:(?!000)\d{3})?)?Z$/;
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z in milliseconds since 1970: no row has a time before or after. */
export const FIRST_TIME_MS = -62_135_596_800_000;
export const LAST_TIME_MS = 253_402_300_799_999;

/**
 * Reads an ISO 8601 date and time: `T` or a space, seconds optional, 0-9 fraction digits, `Z`, `±hh:mm`, `±hhmm` or no zone
 * (UTC); a date alone is midnight. D-3.2. Returns it as pages show it: UTC with `Z` and 0, 3 or 6 fraction digits (finer ones
 * are cut), years 0001 to 9999; null when the text is not such a time. D-3.3.
 */
export function parseDateTime(text: string): string | null {
  if (isCanonicalDateTime(text)) return text;
  const parts = readParts(text);
  if (parts === null) return null;
  const { date, time, fraction, offsetMinutes } = parts;
  if (offsetMinutes === 0) return `${date}T${time}${fraction}Z`;
  const utcMs = Date.parse(`${date}T${time}Z`) - offsetMinutes * MINUTE_MS;
  if (utcMs < FIRST_TIME_MS || utcMs > LAST_TIME_MS) return null;
  return `${new Date(utcMs).toISOString().slice(0, 19)}${fraction}Z`;
}

/** As `parseDateTime`, for the query: a `+` before the zone may have arrived as a space. D-3.2. */
export function parseSince(text: string): string | null {
  return parseDateTime(text.replace(/^(.{11,}) (\d{2}:?\d{2})$/, "$1+$2"));
}

/** The date part as written, `YYYY-MM-DD`, of an ISO 8601 date or time; null when it is neither. D-3.3. */
export function parseDate(text: string): string | null {
  return isCanonicalDate(text) ? text : (readParts(text)?.date ?? null);
}

/** True for a text that `parseDateTime` would return unchanged. */
export function isCanonicalDateTime(text: string): boolean {
  return CANONICAL.test(text) && hasDayOfMonth(text);
}

/** True for a date of the calendar as pages show it, `YYYY-MM-DD`. */
export function isCanonicalDate(text: string): boolean {
  return CANONICAL_DATE.test(text) && hasDayOfMonth(text);
}

/** The last result: what happens together has the same time. */
let lastFormatted = { atMs: 0, text: "1970-01-01T00:00:00Z" };

/** A time in milliseconds since 1970 as pages show it, with three fraction digits when it needs them. */
export function formatMs(atMs: number): string {
  if (atMs !== lastFormatted.atMs) {
    lastFormatted = { atMs, text: new Date(atMs).toISOString().replace(".000Z", "Z") };
  }
  return lastFormatted.text;
}

/** Milliseconds since 1970 of a time as pages show it; finer digits are cut. */
export function dateTimeMs(canonical: string): number {
  return Date.parse(canonical);
}

/** The first millisecond that is not before a canonical time. */
export function firstMsFrom(canonical: string): number {
  const ms = dateTimeMs(canonical);
  return compareDateTimes(formatMs(ms), canonical) < 0 ? ms + 1 : ms;
}

/** Orders two times as pages show them: negative, 0 or positive. */
export function compareDateTimes(a: string, b: string): number {
  const x = a.slice(0, -1);
  const y = b.slice(0, -1);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The parts of a valid ISO 8601 text, fraction as a page shows it; null for any other text. */
function readParts(text: string) {
  const match = DATE_TIME.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", zone] =
    match;
  const date = `${year}-${month}-${day}`;
  if (!isCanonicalDate(date)) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const offsetMinutes = zoneOffsetMinutes(zone);
  if (offsetMinutes === null) return null;
  return {
    date,
    time: `${hour}:${minute}:${second}`,
    fraction: significantFraction(fraction),
    offsetMinutes,
  };
}

/** For a text that starts with a date, its day 01 to 31. */
function hasDayOfMonth(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return day <= 28 || day <= daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7)));
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function zoneOffsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

/** The digits a page shows: none, 3 or 6, with the point; finer digits are cut. D-3.3. */
function significantFraction(fraction: string): string {
  const micros = fraction.slice(0, 6).padEnd(6, "0");
  if (micros === "000000") return "";
  return micros.endsWith("000") ? `.${micros.slice(0, 3)}` : `.${micros}`;
}

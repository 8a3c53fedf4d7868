// The timestamp of a row, as text and as canonical time, and other times in the same notation: a peer is asked with
// times written as it writes them. Which of two rows is newer, and the times of records that bring none.
import {
  compareDateTimes,
  DAY_MS,
  dateTimeMs,
  formatMs,
  parseDateTime,
} from "../../shared/time.ts";
import { isVersioned, type Row, type Table, timestampColumnOf } from "../table/table.ts";

/** The latest time that a row or a tombstone can have. */
export const LAST_TIME = "9999-12-31T23:59:59.999999Z";

/** A row's timestamp as it was sent or is kept; null when it has none that can be parsed. */
export function rowTimeText(table: Table, row: Row): string | null {
  const value = table.timestampColumn === null ? null : row[table.timestampColumn];
  return typeof value === "string" && parseDateTime(value) !== null ? value : null;
}

/** A row's canonical time; null when it has none that can be parsed. */
export function rowTime(table: Table, row: Row): string | null {
  const value = table.timestampColumn === null ? null : row[table.timestampColumn];
  return typeof value === "string" ? parseDateTime(value) : null;
}

/** True where a row of a table with timestamps brings no value for it. */
export function isTimeless({ timestampColumn }: Table, row: Row): boolean {
  return timestampColumn !== null && (row[timestampColumn] ?? null) === null;
}

/** True for a row at or after a canonical time; for every row where that is null. */
export function isSince(table: Table, row: Row, sinceTime: string | null): boolean {
  if (sinceTime === null) return true;
  const time = rowTime(table, row);
  return time !== null && compareDateTimes(time, sinceTime) >= 0;
}

/** The earliest of canonical times; null for none. */
export function earliestTime(times: Iterable<string | null>): string | null {
  let first: string | null = null;
  for (const time of times) {
    if (time !== null && (first === null || compareDateTimes(time, first) < 0)) first = time;
  }
  return first;
}

/** Microseconds since 1970 of a canonical time; exact for the years that computers know, and in order for all. */
export function timeMicros(time: string): number {
  return dateTimeMs(time) * 1000 + Number(time.slice(MILLIS_CHARS, -1));
}

/** A time in UTC with the separator and the kind of zone that another text has. */
export function formatLike(sample: string, atMs: number): string {
  return writeLike(sample, formatMs(atMs));
}

/** The time one microsecond later, the smallest step, in the same notation; the last time there is stays. */
export function justAfter(time: string): string {
  const canonical = parseDateTime(time);
  if (canonical === null) throw new Error("Only a date and time has one behind it");
  if (canonical === LAST_TIME) return time;
  const [seconds = "", fraction = ""] = canonical.slice(0, -1).split(".");
  const micros = Number(fraction.padEnd(6, "0")) + 1;
  if (micros === 1_000_000) return formatLike(time, Date.parse(`${seconds}Z`) + 1000);
  const digits = String(micros).padStart(6, "0").replace(/000$/, "");
  return writeLike(time, `${seconds}.${digits}Z`);
}

/** `atMs`, or for a table by days the start of its day in UTC: rows of a day may come until it ends. */
export function startMs(table: Table, atMs: number): number {
  return isByDay(table) ? Math.floor(atMs / DAY_MS) * DAY_MS : atMs;
}

/** As `startMs`, in the notation of a row's time. */
export function startLike(table: Table, sample: string, atMs: number): string {
  const start = formatLike(sample, startMs(table, atMs));
  return isByDay(table) && sample.length === DATE_CHARS ? start.slice(0, DATE_CHARS) : start;
}

/** The first time at or after a canonical one, where times are kept as texts without a zone, which order by time. */
export function zonelessFrom(table: Table, time: string): string {
  const zoneless = time.slice(0, -1);
  // "2024-05-01" comes before "2024-05-01T00:00:00" but is the same time.
  const isDay = isByDay(table) && zoneless.endsWith("T00:00:00");
  return isDay ? zoneless.slice(0, DATE_CHARS) : zoneless;
}

export function isByDay(table: Table): boolean {
  return timestampColumnOf(table)?.type === "date";
}

const DATE_CHARS = "2026-03-01".length;
const MILLIS_CHARS = "2026-03-01T00:00:00.000".length;

function writeLike(sample: string, canonical: string): string {
  const separator = sample.charAt(10) === " " ? " " : "T";
  const zone = /(Z|[+-]\d{2}:?\d{2})?$/.exec(sample)?.[0] ?? "";
  const utcZone = zone === "" || zone === "Z" ? zone : zone.includes(":") ? "+00:00" : "+0000";
  return canonical.replace("T", separator).replace("Z", utcZone);
}

// Which of two versions of a row is newer. D-7.1.

/** A timestamp further ahead of the clock of the deciding deployment ranks below all others. */
export const MAX_AHEAD_MS = 300_000;
export const TOO_FAR_AHEAD = `more than ${MAX_AHEAD_MS / 60_000} minutes ahead of the clock here`;

/** The latest canonical time that is not too far ahead. */
export function aheadLimit(nowMs: number): string {
  return formatMs(nowMs + MAX_AHEAD_MS);
}

/** The canonical time of a change that wins over the row: now, or 1 µs after the row, unless that is too far ahead. */
export function changeTime(rowTime: string | null, nowMs: number): string {
  const now = formatMs(nowMs);
  if (rowTime === null || compareDateTimes(rowTime, aheadLimit(nowMs)) > 0) return now;
  const behind = justAfter(rowTime);
  return compareDateTimes(behind, now) > 0 ? behind : now;
}

/**
 * Below 0 when the canonical time `a` ranks below `b`, 0 when both rank the same, above 0 otherwise. No time (null) ranks below
 * all; times behind `limit` (`aheadLimit`) rank below all others, and among each other by time.
 */
export function rankTimes(a: string | null, b: string | null, limit: string): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const isAhead = [a, b].map((time) => compareDateTimes(time, limit) > 0);
  if (isAhead[0] !== isAhead[1]) return isAhead[0] ? -1 : 1;
  return compareDateTimes(a, b);
}

/** True when a guard keeps `arriving` out. `limit` as in `rankTimes`. */
export function ranksBelow(table: Table, here: Row, arriving: Row, limit: string): boolean {
  return isVersioned(table) && rankTimes(rowTime(table, arriving), rowTime(table, here), limit) < 0;
}

/** True when a row with this canonical time wins over a tombstone. `limit` is an `aheadLimit`. D-7.6. */
export function outlives(rowTime: string | null, deletedAt: string, limit: string): boolean {
  return rankTimes(rowTime, deletedAt, limit) > 0;
}

// Stamps. D-14.2.

/** The stamp of rows that had no time when their table became stamped: nobody knows which of two is newer. */
export const FIRST_STAMP = "1970-01-01T00:00:00Z";

/** The stamps of records. */
export interface StampRule {
  /** Canonical time of the records' file; null for none. New rows get it, or the present time when that is earlier. */
  readonly fileTime: string | null;
  /** True: rows that were deleted after the time of the file come back. */
  readonly restores: boolean;
}

export const STAMP_NOW: StampRule = { fileTime: null, restores: false };

/** A record, and what the store has of its key. */
interface StampedWrite {
  /** The record's canonical time; null when it has none. */
  readonly time: string | null;
  /** True when the record has a value in the time column, even one that is no time. */
  readonly bringsTime: boolean;
  /** The row of its key: canonical time, and whether the record changes another column; null for none. */
  readonly here: { readonly time: string | null; readonly isChanged: boolean } | null;
  /** The time of its key's tombstone; null for none. */
  readonly deletedAt: string | null;
  readonly nowMs: number;
}

/** A time to stamp a record with. `own`: the record is written unchanged; `same` and `deleted`: it is not written. */
type StampFate = { readonly time: string } | "own" | "same" | "deleted";

export function stampFate(rule: StampRule, write: StampedWrite): StampFate {
  const { here, deletedAt, bringsTime, nowMs } = write;
  if (isDeletedSince(rule, write)) {
    return rule.restores ? { time: changeTime(deletedAt, nowMs) } : "deleted";
  }
  if (bringsTime) return "own";
  if (here !== null) return here.isChanged ? { time: timeBehind(write) } : "same";
  const { fileTime } = rule;
  const isOfFile = fileTime !== null && compareDateTimes(fileTime, formatMs(nowMs)) < 0;
  const isBuried =
    deletedAt !== null && fileTime !== null && compareDateTimes(deletedAt, fileTime) >= 0;
  return { time: isOfFile && !isBuried ? fileTime : timeBehind(write) };
}

/** True for a record whose row was deleted after its file was written, unless its own time is later still. */
function isDeletedSince({ fileTime }: StampRule, write: StampedWrite): boolean {
  const { here, deletedAt, time, nowMs } = write;
  if (fileTime === null || here !== null || deletedAt === null) return false;
  return compareDateTimes(deletedAt, fileTime) > 0 && !outlives(time, deletedAt, aheadLimit(nowMs));
}

/** Now, or right behind the row and the tombstone: whoever writes has seen both. */
function timeBehind({ here, deletedAt, nowMs }: StampedWrite): string {
  const ofRow = changeTime(here?.time ?? null, nowMs);
  const ofTombstone = changeTime(deletedAt, nowMs);
  return compareDateTimes(ofRow, ofTombstone) < 0 ? ofTombstone : ofRow;
}

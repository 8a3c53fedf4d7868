// The timestamp of a row, as text and as canonical time, and other times in the same notation: a peer is asked with
// times written as it writes them.
import { compareDateTimes, dateTimeMs, formatMs, parseDateTime } from "../../shared/time.ts";
import type { Row, Table } from "../table/table.ts";

/** 0001-01-01T00:00:00Z in milliseconds since 1970: before any time that a row can have. */
export const FIRST_TIME_MS = -62_135_596_800_000;

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
  const micros = /\.\d{3}(\d{3})Z$/.exec(time)?.[1] ?? "0";
  return dateTimeMs(time) * 1000 + Number(micros);
}

/** A time in UTC with the separator and the kind of zone that another text has. */
export function formatLike(sample: string, atMs: number): string {
  return writeLike(sample, formatMs(atMs));
}

/** The time one microsecond later, the smallest step that is kept, in the same notation. */
export function justAfter(time: string): string {
  const canonical = parseDateTime(time);
  if (canonical === null) throw new Error("Only a date and time has one behind it");
  const [seconds = "", fraction = ""] = canonical.slice(0, -1).split(".");
  const micros = Number(fraction.padEnd(6, "0")) + 1;
  if (micros === 1_000_000) return formatLike(time, Date.parse(`${seconds}Z`) + 1000);
  const digits = String(micros).padStart(6, "0").replace(/000$/, "");
  return writeLike(time, `${seconds}.${digits}Z`);
}

function writeLike(sample: string, canonical: string): string {
  const separator = sample.charAt(10) === " " ? " " : "T";
  const zone = /(Z|[+-]\d{2}:?\d{2})?$/.exec(sample)?.[0] ?? "";
  const utcZone = zone === "" || zone === "Z" ? zone : zone.includes(":") ? "+00:00" : "+0000";
  return canonical.replace("T", separator).replace("Z", utcZone);
}

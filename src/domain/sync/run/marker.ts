// Names and values of the last-sync markers. S-2.5, S-4.4.2, D-4.5, D-4.6.
import { assert } from "../../shared/errors.ts";
import { compareDateTimes, parseDateTime } from "../../shared/time.ts";
import { formatLike } from "../rows/row-time.ts";
import { type Table, timestampColumnOf } from "../table/table.ts";

export type SyncDirection = "push" | "pull";

/** Both directions, in the order a run with `both` takes them. D-4.3. */
export const SYNC_DIRECTIONS: readonly SyncDirection[] = ["push", "pull"];

/** The name of a marker in the status result. */
export function markerName(direction: SyncDirection, tableName: string): string {
  return `sync_last_${direction}_${tableName}`;
}

/**
 * The latest time that a marker may hold: `lagSeconds` before a run's start, in the notation of
 * `sample`, so that the end that wrote that can read it. A table with a `date` column takes the start of the day: a row
 * of that day may come until its end.
 */
export function markerCap(
  table: Table,
  sample: string,
  startedAtMs: number,
  lagSeconds: number,
): string {
  return timeLike(table, sample, startedAtMs - lagSeconds * 1000);
}

/** A time in milliseconds since 1970 in the notation of a row's; of a `date` column the start of the day. */
export function timeLike(table: Table, sample: string, atMs: number): string {
  if (timestampColumnOf(table)?.type !== "date") return formatLike(sample, atMs);
  const day = formatLike(sample, startOfDay(atMs));
  return sample.length === DATE_CHARS ? day.slice(0, DATE_CHARS) : day;
}

/** Midnight, UTC, of the day that a time in milliseconds since 1970 is part of. */
export function startOfDay(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

/** The marker after everything up to `seenUpTo` has been applied: that text itself, or the cap when it is earlier. */
export function cappedMarker(seenUpTo: string, cap: string): string {
  const seen = parseDateTime(seenUpTo);
  const latest = parseDateTime(cap);
  assert(seen !== null && latest !== null, "A marker must be a date and time");
  return compareDateTimes(seen, latest) <= 0 ? seenUpTo : cap;
}

const DAY_MS = 86_400_000;
const DATE_CHARS = "2026-03-01".length;

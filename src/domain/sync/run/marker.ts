// Names and values of the last-sync markers, and of what is remembered beside them. S-2.5, S-4.4.2, D-4.5, D-4.6.

import { compareDateTimes, parseDateTime } from "../../shared/time.ts";
import { formatLike } from "../rows/row-time.ts";
import { type Table, timestampColumnOf } from "../table/table.ts";

export type SyncDirection = "push" | "pull";

/** Both directions, in the order a run with `both` takes them. D-4.3. */
export const SYNC_DIRECTIONS: readonly SyncDirection[] = ["push", "pull"];

/** The key of a marker in the store and in the status result. */
export function markerName(direction: SyncDirection, tableName: string): string {
  return `sync_last_${direction}_${tableName}`;
}

/** The key of the remote that the memory of a direction is of: its `remoteText`. Not in the status result. D-11.10. */
export function remoteMarkerName(direction: SyncDirection, tableName: string): string {
  return `sync_remote_${direction}_${tableName}`;
}

/** The key of the latest `server_time` that the remote sent. Not in the status result. */
export function clockMarkerName(direction: SyncDirection, tableName: string): string {
  return `sync_clock_${direction}_${tableName}`;
}

/** The key of the latest time at which this deployment began to push a table. Not in the status result. */
export function ownClockMarkerName(tableName: string): string {
  return `sync_own_clock_push_${tableName}`;
}

/**
 * The key of the mark of late rows up to which a table was moved: the own mark for a push, the remote's for a pull. Not
 * in the status result. D-7.4.
 */
export function markName(direction: SyncDirection, tableName: string): string {
  return `sync_mark_${direction}_${tableName}`;
}

/** The key of the number of versions that pulls have added to the agreed rows of a table. Not in the status result. */
export function agreedCountName(tableName: string): string {
  return `sync_agreed_${tableName}`;
}

/**
 * The key of the rows that this end had more than the remote when the last run over a table ended; negative for fewer.
 * It is no part of the markers, and is not cleared with them. D-7.5.
 */
export function driftName(tableName: string): string {
  return `sync_drift_${tableName}`;
}

/**
 * The key of the place up to which tombstones were moved in a direction. A run with full begins at the same place, as
 * deletes before it may not be known any more; so it is not cleared with the markers. D-7.6.
 */
export function deletePlaceName(direction: SyncDirection, tableName: string): string {
  return `sync_deletes_${direction}_${tableName}`;
}

/**
 * The key of the columns that took part when a table was last moved in a direction. It says what the rows here hold, not
 * where a run begins, so it is not cleared with the markers. D-7.3.
 */
export function columnsName(direction: SyncDirection, tableName: string): string {
  return `sync_columns_${direction}_${tableName}`;
}

/** The keys of a table in a direction: without them it begins at the first row. */
export function transferMarkerNames(
  direction: SyncDirection,
  tableName: string,
): readonly string[] {
  return [
    markerName(direction, tableName),
    clockMarkerName(direction, tableName),
    markName(direction, tableName),
  ];
}

/** All keys of a table: they are cleared together. */
export function allMarkerNames(tableName: string): readonly string[] {
  const names = SYNC_DIRECTIONS.flatMap((direction) => transferMarkerNames(direction, tableName));
  return [...names, ownClockMarkerName(tableName), agreedCountName(tableName)];
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
  if (seen === null || latest === null) throw new Error("A marker must be a date and time");
  return compareDateTimes(seen, latest) <= 0 ? seenUpTo : cap;
}

const DAY_MS = 86_400_000;
const DATE_CHARS = "2026-03-01".length;

// Names and values of the last-sync markers, and of what is remembered beside them. S-2.5, S-4.4.2, D-4.5, D-4.6.

import { compareDateTimes, parseDateTime } from "../../shared/time.ts";
import { formatLike } from "../rows/row-time.ts";
import { type Table, timestampColumnOf } from "../table/table.ts";

/** Which way rows move, seen from this deployment. */
export type SyncDirection = "push" | "pull";

/** Both directions, in the order a run with `both` takes them. D-4.3. */
export const SYNC_DIRECTIONS: readonly SyncDirection[] = ["push", "pull"];

/** The key of a marker in the store and in the status result. */
export function markerName(direction: SyncDirection, tableName: string): string {
  return `sync_last_${direction}_${tableName}`;
}

/** Where the address of the remote is kept that a marker belongs to. Not listed by the status. */
export function remoteMarkerName(direction: SyncDirection, tableName: string): string {
  return `sync_remote_${direction}_${tableName}`;
}

/** Where the latest `server_time` is kept that the remote has sent. Not listed by the status. */
export function clockMarkerName(direction: SyncDirection, tableName: string): string {
  return `sync_clock_${direction}_${tableName}`;
}

/** Where the latest time is kept at which this deployment has begun to push a table. Not listed by the status. */
export function ownClockMarkerName(tableName: string): string {
  return `sync_own_clock_push_${tableName}`;
}

/** Every name that belongs to a table: cleared together. */
export function allMarkerNames(tableName: string): readonly string[] {
  const names = SYNC_DIRECTIONS.flatMap((direction) => [
    markerName(direction, tableName),
    remoteMarkerName(direction, tableName),
    clockMarkerName(direction, tableName),
  ]);
  return [...names, ownClockMarkerName(tableName)];
}

/**
 * The latest time that a marker may hold: `lagSeconds` before a run's start, written as `sample` is, so that whoever
 * wrote that can read it. A table by days takes the start of the day, as a row of that day may come until its end.
 */
export function markerCap(
  table: Table,
  sample: string,
  startedAtMs: number,
  lagSeconds: number,
): string {
  const atMs = startedAtMs - lagSeconds * 1000;
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

// The times that a push has to note. D-7.4.
import { compareDateTimes } from "../../../domain/shared/time.ts";
import { type LateTimes, lateBefore } from "../../../domain/sync/run/late-rows.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { SYNC_CALLS } from "../driver/deadline.ts";

/** A commit takes this much longer to become visible, and runs look at clocks that may be behind the server's. */
const MARGIN_MS = 5_000;

/** Canonical times of rows; null for a row without one. */
type RowTimes = readonly (string | null)[];

/** What a push did to rows. */
export interface PushedTimes {
  /** Of the rows that were inserted or changed: all that may be late. */
  readonly changedTimes: RowTimes;
  /** Of rows that stayed, being newer. */
  readonly keptTimes: RowTimes;
}

/** The time before which a row may be late when its push commits. */
export function mayBeLateBefore(table: Table, nowMs: number): string {
  return lateBefore(table, nowMs + SYNC_CALLS.durationMs + MARGIN_MS);
}

/** The times that are noted when the push commits now. */
export function lateTimesOf(
  table: Table,
  { changedTimes, keptTimes }: PushedTimes,
  isOwnRun: boolean,
  nowMs: number,
): LateTimes {
  const limit = lateBefore(table, nowMs + MARGIN_MS);
  const changed = earliest(changedTimes);
  const late = changed !== null && compareDateTimes(changed, limit) < 0 ? changed : null;
  const kept = earliest(keptTimes);
  return isOwnRun
    ? { byOwnRuns: late, byOthers: kept }
    : { byOwnRuns: null, byOthers: earliest([late, kept]) };
}

/** The earliest of canonical times; null for none. */
export function earliest(times: RowTimes): string | null {
  let first: string | null = null;
  for (const time of times) {
    if (time !== null && (first === null || compareDateTimes(time, first) < 0)) first = time;
  }
  return first;
}

// Which of two versions of a row is newer. D-7.1.
import { compareDateTimes, formatMs } from "../../shared/time.ts";
import { justAfter } from "./row-time.ts";

/** A timestamp further ahead of the clock of the deployment that decides ranks below all that are not. */
export const MAX_AHEAD_MS = 300_000;

/** The canonical time behind which timestamps are too far ahead. */
export function aheadLimit(nowMs: number): string {
  return formatMs(nowMs + MAX_AHEAD_MS);
}

/**
 * The canonical time of what is done to a row now: now, or 1 µs after the row's canonical time where that is later and not
 * more than 5 minutes ahead. So it wins over the row.
 */
export function changeTime(rowTime: string | null, nowMs: number): string {
  const now = formatMs(nowMs);
  if (rowTime === null || compareDateTimes(rowTime, aheadLimit(nowMs)) > 0) return now;
  const behind = justAfter(rowTime);
  return compareDateTimes(behind, now) > 0 ? behind : now;
}

/**
 * Below 0 when the canonical time `a` ranks below `b`, 0 when both rank the same, above 0 otherwise. No time (null) ranks
 * below all; times behind `limit` (`aheadLimit`) below all that are not, and among each other by time.
 */
export function rankTimes(a: string | null, b: string | null, limit: string): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const isAhead = [a, b].map((time) => compareDateTimes(time, limit) > 0);
  if (isAhead[0] !== isAhead[1]) return isAhead[0] ? -1 : 1;
  return compareDateTimes(a, b);
}

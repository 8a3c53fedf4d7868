import type { Row } from "../table/table.ts";
import { changeTime, rankTimes } from "./row-time.ts";

/** That a row was deleted. D-7.6. */
export interface Tombstone {
  /** The key columns, as the table keeps them. */
  readonly key: Row;
  /** Canonical time: a row that is not later does not come back. */
  readonly deletedAt: string;
}

/**
 * The `deletedAt` of a row that is deleted now: later than the row's canonical time, unless that is more than 5 minutes
 * ahead. D-7.6.
 */
export function deletionTime(rowTime: string | null, nowMs: number): string {
  return changeTime(rowTime, nowMs);
}

/** True when a row with this canonical time wins over a tombstone. `limit` is an `aheadLimit`. D-7.6. */
export function outlives(rowTime: string | null, deletedAt: string, limit: string): boolean {
  return rankTimes(rowTime, deletedAt, limit) > 0;
}

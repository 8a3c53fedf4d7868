// Up to where the tombstones of a table were moved in a direction, and how many rows they may delete. D-7.6.
import { compareDateTimes, isCanonicalDateTime } from "../../shared/time.ts";
import type { Table } from "../table/table.ts";

export interface DeletePlace {
  /** A cursor of the end that the tombstones come from; null for the beginning of its list. */
  readonly cursor: string | null;
  /** Canonical time of that end when it gave the cursor. */
  readonly givenAt: string;
}

/** True when deletes after the place may be missing: the record of deletes is complete from a later time on only. */
export function isPlaceTooOld({ givenAt }: DeletePlace, earliestAvailable: string): boolean {
  if (!isCanonicalDateTime(givenAt)) return true;
  return compareDateTimes(givenAt, earliestAvailable) < 0;
}

const LEAST_LIMIT_ROWS = 1_000;
const LIMIT_PART = 0.1;

/**
 * Rows of a table that one run may delete at an end that has `rowCount` rows: what the request says, or the registry, or
 * 1,000 or a tenth of the table, whichever is more. D-7.6.
 */
export function deleteLimit(table: Table, requested: number | null, rowCount: number): number {
  const ownLimit = Math.max(LEAST_LIMIT_ROWS, Math.floor(rowCount * LIMIT_PART));
  return requested ?? table.maxDeletes ?? ownLimit;
}

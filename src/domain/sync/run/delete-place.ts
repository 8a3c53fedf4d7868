// Up to where the tombstones of a table were moved in a direction. D-7.6.
import { compareDateTimes, isCanonicalDateTime } from "../../shared/time.ts";

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

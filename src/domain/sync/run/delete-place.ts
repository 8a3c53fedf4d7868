// Up to where the tombstones of a table were moved in a direction. D-7.6.
import { compareDateTimes, isCanonicalDateTime } from "../../shared/time.ts";

export interface DeletePlace {
  /** A cursor of the end that the tombstones come from; null for the beginning of its list. */
  readonly cursor: string | null;
  /** Canonical time of that end when it gave the cursor. */
  readonly givenAt: string;
}

/** The text that is kept of a place. */
export function writeDeletePlace({ cursor, givenAt }: DeletePlace): string {
  return JSON.stringify([cursor, givenAt]);
}

/** Null for a text that is none. */
export function readDeletePlace(text: string | undefined): DeletePlace | null {
  if (text === undefined || text === "") return null;
  const [cursor, givenAt] = JSON.parse(text);
  return { cursor, givenAt };
}

/** True when deletes after the place may be missing: the record of deletes is complete from a later time on only. */
export function isPlaceTooOld({ givenAt }: DeletePlace, earliestAvailable: string): boolean {
  if (!isCanonicalDateTime(givenAt)) return true;
  return compareDateTimes(givenAt, earliestAvailable) < 0;
}

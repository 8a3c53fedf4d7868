import { MAX_FORGOTTEN_AT_ONCE, MAX_KEPT_ENDED } from "../../shared/limits.ts";
import { compareDateTimes } from "../../shared/time.ts";

/** A key or a consent that has ended. */
export interface Ended<Id> {
  readonly id: Id;
  /** Canonical time. */
  readonly endedAt: string;
}

/**
 * Ids of those that ended before the last 1,000, to be forgotten by the change that asks; what an earlier version has left
 * in thousands goes with several changes. `ended` is in the order of their making, which decides between equal times. D-11.7.
 */
export function longEnded<Id>(ended: readonly Ended<Id>[]): readonly Id[] {
  return ended
    .toSorted((a, b) => compareDateTimes(a.endedAt, b.endedAt))
    .slice(0, -MAX_KEPT_ENDED)
    .slice(0, MAX_FORGOTTEN_AT_ONCE)
    .map(({ id }) => id);
}

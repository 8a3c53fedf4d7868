// `expires_at` of consents and API keys. D-5.5, D-6.1.
import { refuse } from "../../shared/errors.ts";
import { MAX_KEPT_ENDED } from "../../shared/limits.ts";
import { compareDateTimes, formatMs, parseDateTime } from "../../shared/time.ts";

/** The problem of an `expires_at` that is not a time. */
export const NO_EXPIRY = "Must be an ISO 8601 date and time, or null";

/**
 * The time a right ends as canonical text, null for never. Throws `invalid_request` for text that is no time (D-3.2), and
 * for a time that is not after now.
 */
export function readExpiry(expiresAt: string | null | undefined, nowMs: number): string | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  const time = parseDateTime(expiresAt);
  if (time === null) refuse([{ pointer: "/expires_at", detail: NO_EXPIRY }]);
  if (isOver(time, nowMs)) refuse([{ pointer: "/expires_at", detail: "Must be in the future" }]);
  return time;
}

/** True from `expiresAt` on, that moment included; null is never. */
export function isOver(expiresAt: string | null, nowMs: number): boolean {
  return expiresAt !== null && compareDateTimes(expiresAt, formatMs(nowMs)) <= 0;
}

/** A key or a consent that has ended. */
interface Ended<Id> {
  readonly id: Id;
  /** Canonical time. */
  readonly endedAt: string;
}

/**
 * Ids of those that ended before the last 1,000, to be forgotten by the change that asks. `ended` is in the order of their
 * making, which decides between equal times. D-11.7.
 */
export function longEnded<Id>(ended: readonly Ended<Id>[]): readonly Id[] {
  return ended
    .toSorted((a, b) => compareDateTimes(a.endedAt, b.endedAt))
    .slice(0, -MAX_KEPT_ENDED)
    .map(({ id }) => id);
}

// `expires_at` of consents and API keys. D-5.5, D-6.1.
import { refuse } from "../../shared/errors.ts";
import { MAX_KEPT_ENDED } from "../../shared/limits.ts";
import { compareDateTimes, formatMs, parseDateTime } from "../../shared/time.ts";

/** The problem of an `expires_at` that is not a time. */
export const NO_EXPIRY = "Must be an ISO 8601 date and time, or null";

/** Canonical; null for never. Throws `invalid_request` for text that is no time (D-3.2), and for a time that is not after now. */
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

/** Ids of all but the last 1,000 that ended, by canonical `endedAt`; of equal times the first in the list ended first. D-11.7. */
export function longEnded<Id>(
  ended: readonly { readonly id: Id; readonly endedAt: string }[],
): readonly Id[] {
  return ended
    .toSorted((a, b) => compareDateTimes(a.endedAt, b.endedAt))
    .slice(0, -MAX_KEPT_ENDED)
    .map(({ id }) => id);
}

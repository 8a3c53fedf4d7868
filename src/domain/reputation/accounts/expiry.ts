// `expires_at` of consents and API keys. D-5.5, D-6.1.
import { compareDateTimes, formatMs, parseDateTime } from "../../shared/time.ts";
import type { FieldProblem } from "./problem.ts";

/** `YYYY-MM-DDThh:mm:ss` */
const LAST_OVER_CHARS = 19;

/** The time a right ends, canonical text, null for never; or what is wrong with the field. */
export type CheckedExpiry =
  | { readonly expiresAt: string | null; readonly problem: null }
  | { readonly expiresAt: null; readonly problem: FieldProblem };

/**
 * Reads `expires_at` of a body: absent or null is never; else ISO 8601 text (D-3.2) of a time after
 * now.
 */
export function checkExpiry(expiresAt: unknown, nowMs: number): CheckedExpiry {
  if (expiresAt === undefined || expiresAt === null) return { expiresAt: null, problem: null };
  const time = typeof expiresAt === "string" ? parseDateTime(expiresAt) : null;
  if (time === null) return refused("Must be an ISO 8601 date and time, or null");
  if (isOver(time, nowMs)) return refused("Must be in the future");
  return { expiresAt: time, problem: null };
}

/** True from `expiresAt` on, that moment included; null is never. */
export function isOver(expiresAt: string | null, nowMs: number): boolean {
  return expiresAt !== null && compareDateTimes(expiresAt, formatMs(nowMs)) <= 0;
}

function refused(detail: string): CheckedExpiry {
  return { expiresAt: null, problem: { pointer: "/expires_at", detail } };
}

/**
 * A text that every time after a moment is greater than, for stores to leave out most of what is over: the second of
 * the moment, without the `Z`, as that would come after the fraction of a time in the same second.
 */
export function lastOver(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, LAST_OVER_CHARS);
}

// Charges several calls of one account at one moment, from sums instead of a log of every call. The
// outcome is that of `decideCall`, one call after the other; a property test compares them. D-6.4.
import { MINUTE_WINDOW_MS } from "../../shared/limits.ts";
import type { EffectiveLimits } from "./plan.ts";
import { type MonthUsage, monthAt, monthQuota, type Quota } from "./quota.ts";

/** What a store knows of an account's calls at one moment. */
export interface MeterReading {
  /** Calls within the last 60 seconds: those after `nowMs - MINUTE_WINDOW_MS`. */
  readonly minuteCalls: number;
  /**
   * Time of the call after whose end more calls are possible than now: the oldest of the window; with
   * more calls than the limit, the one at place `minuteCalls - limit` from the oldest, counted from
   * 0. Null without calls.
   */
  readonly blockingMs: number | null;
  /** Null when the account has made no call yet. */
  readonly month: MonthUsage | null;
}

/** Where an account stands with both limits. */
export interface Quotas {
  readonly minute: Quota;
  readonly month: Quota;
}

/** The outcome of several calls. */
export interface MeterCharge {
  /** The first so many calls pass and count, the others neither. */
  readonly admitted: number;
  /** Why the others do not; null when all pass. */
  readonly refusal: "rate_limited" | "quota_exceeded" | null;
  /** What to keep. */
  readonly month: MonthUsage | null;
  readonly minuteCalls: number;
  /** Where the account stands after the first `count` of the admitted calls. */
  readonly quotasAfter: (count: number) => Quotas;
}

/** Decides `calls` calls of one account that come at the same moment. D-5.8, D-6.4. */
export function chargeCalls(
  reading: MeterReading,
  attempt: { readonly calls: number; readonly limits: EffectiveLimits; readonly nowMs: number },
): MeterCharge {
  const { calls, limits, nowMs } = attempt;
  const month = monthQuota(reading.month, attempt);
  const minuteRoom = Math.max(0, limits.callsPerMinute - reading.minuteCalls);
  const monthRoom = month.remaining ?? Number.POSITIVE_INFINITY;
  const admitted = Math.min(calls, minuteRoom, monthRoom);
  return {
    admitted,
    refusal: refusalOf(admitted, { calls, monthRoom }),
    month: countMonth(reading.month, { nowMs, count: admitted }),
    minuteCalls: reading.minuteCalls + admitted,
    quotasAfter: (count) => ({
      minute: minuteQuota(reading, { ...attempt, count }),
      month: {
        ...month,
        used: month.used + count,
        remaining: month.remaining === null ? null : month.remaining - count,
      },
    }),
  };
}

function refusalOf(
  admitted: number,
  { calls, monthRoom }: { readonly calls: number; readonly monthRoom: number },
): MeterCharge["refusal"] {
  if (admitted === calls) return null;
  return monthRoom === admitted ? "quota_exceeded" : "rate_limited";
}

function countMonth(
  usage: MonthUsage | null,
  { nowMs, count }: { readonly nowMs: number; readonly count: number },
): MonthUsage | null {
  if (count === 0) return usage;
  const month = monthAt(usage, nowMs);
  return { month, used: (usage?.month === month ? usage.used : 0) + count };
}

function minuteQuota(
  reading: MeterReading,
  at: { readonly limits: EffectiveLimits; readonly nowMs: number; readonly count: number },
): Quota {
  const limit = at.limits.callsPerMinute;
  const used = reading.minuteCalls + at.count;
  const blockingMs = reading.blockingMs ?? (at.count > 0 ? at.nowMs : null);
  return {
    limit,
    used,
    remaining: Math.max(0, limit - used),
    resetSeconds:
      blockingMs === null ? 0 : Math.ceil((blockingMs + MINUTE_WINDOW_MS - at.nowMs) / 1000),
  };
}

// Charges several calls of one account at one moment, from sums in place of a log of every call. The outcome is that of deciding
// one call after the other; a property test compares them. D-6.4.
import type { QuotaAlert } from "../../alerts/alert.ts";
import { MINUTE_WINDOW_MS } from "../../shared/limits.ts";
import { formatMs } from "../../shared/time.ts";
import {
  type EffectiveLimits,
  type MonthUsage,
  monthQuota,
  type PlanName,
  type Quota,
  usageAt,
} from "./plan.ts";

/** An account's calls at one moment, as a store counts them. */
export interface MeterReading {
  /** Calls within the last 60 seconds: those after `nowMs - MINUTE_WINDOW_MS`. */
  readonly minuteCalls: number;
  /**
   * Time of the call that has to leave the window before more calls are possible: the oldest; with more calls than
   * the limit, the one at index `minuteCalls - limit` from the oldest. Null without calls.
   */
  readonly blockingMs: number | null;
  /** Null when the account has made no call yet. */
  readonly month: MonthUsage | null;
}

interface CallAttempt {
  readonly calls: number;
  readonly limits: EffectiveLimits;
  readonly nowMs: number;
}

export interface Quotas {
  readonly minute: Quota;
  readonly month: Quota;
}

export interface MeterCharge {
  /** The number of calls that pass and count, from the first on. The rest neither passes nor counts. */
  readonly admitted: number;
  /** Why the rest is refused; null when all pass. */
  readonly refusal: "rate_limited" | "quota_exceeded" | null;
  /** This month with the calls that pass. */
  readonly month: MonthUsage;
  /** Both limits after the first `count` of the admitted calls. */
  readonly quotasAfter: (count: number) => Quotas;
}

export function chargeCalls(
  reading: MeterReading,
  { calls, limits, nowMs }: CallAttempt,
): MeterCharge {
  const usage = usageAt(reading.month, nowMs);
  const month = monthQuota(usage, limits, nowMs);
  const minuteRoom = Math.max(0, limits.callsPerMinute - reading.minuteCalls);
  const monthRoom = month.remaining ?? Number.POSITIVE_INFINITY;
  const admitted = Math.min(calls, minuteRoom, monthRoom);
  return {
    admitted,
    refusal: refusalOf(admitted, calls, monthRoom),
    month: { month: usage.month, used: usage.used + admitted },
    quotasAfter: (count) => ({
      minute: minuteQuota(reading, limits, nowMs, count),
      month: {
        ...month,
        used: month.used + count,
        remaining: month.remaining === null ? null : month.remaining - count,
      },
    }),
  };
}

function refusalOf(admitted: number, calls: number, monthRoom: number): MeterCharge["refusal"] {
  if (admitted === calls) return null;
  return monthRoom === admitted ? "quota_exceeded" : "rate_limited";
}

function minuteQuota(
  reading: MeterReading,
  { callsPerMinute: limit }: EffectiveLimits,
  nowMs: number,
  count: number,
): Quota {
  const used = reading.minuteCalls + count;
  const blockingMs = reading.blockingMs ?? (count > 0 ? nowMs : null);
  return {
    limit,
    used,
    remaining: Math.max(0, limit - used),
    resetSeconds:
      blockingMs === null ? 0 : Math.ceil((blockingMs + MINUTE_WINDOW_MS - nowMs) / 1000),
  };
}

/** The body of `GET /v1/me/usage`; `blockingMs` as in `MeterReading`. D-5.5. */
export function usageBody(
  plan: PlanName,
  quotas: Quotas,
  blockingMs: number | null,
  nowMs: number,
) {
  const minuteResetMs = blockingMs === null ? nowMs : blockingMs + MINUTE_WINDOW_MS;
  const monthResetMs = nowMs + quotas.month.resetSeconds * 1000;
  return {
    plan,
    minute: limitUsage(quotas.minute, minuteResetMs),
    // Months end with a whole second, and `resetSeconds` is rounded up.
    month: limitUsage(quotas.month, monthResetMs - (monthResetMs % 1000)),
  };
}

/** `resetMs` is when more calls are possible than now; now when nothing is used. */
function limitUsage({ limit, used, remaining }: Quota, resetMs: number) {
  return { limit, used, remaining, resetAt: formatMs(resetMs) };
}

// Alerts about quotas that are used up. D-10.12.

/** Percent of the month's calls. */
const QUOTA_STEPS = [80, 100] as const;

/** A step that an account has reached, told once for each account, step and month. */
export type QuotaStep = Omit<QuotaAlert, "account">;

/** The steps that an account has reached; none where nothing was charged or there is no limit. */
export function quotaSteps(
  { admitted, month }: Pick<MeterCharge, "admitted" | "month">,
  { callsPerMonth: limit }: Pick<EffectiveLimits, "callsPerMonth">,
): readonly QuotaStep[] {
  if (limit === null || admitted === 0) return [];
  const after = month.used;
  return QUOTA_STEPS.flatMap((percent) => {
    const reachedAt = Math.ceil((limit * percent) / 100);
    if (after < reachedAt) return [];
    const used = after - admitted < reachedAt ? reachedAt : after;
    return [{ type: `quota.${percent}` as const, limit, used, month: month.month }];
  });
}

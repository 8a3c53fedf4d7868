// What `GET /v1/me/usage` shows. D-5.5.
import { MINUTE_WINDOW_MS } from "../../shared/limits.ts";
import { formatMs } from "../../shared/time.ts";
import type { Quotas } from "./call-meter.ts";
import type { PlanName } from "./plan.ts";
import type { Quota } from "./quota.ts";

/** One limit, in the field order of D-5.5. */
interface LimitUsage {
  /** Null when unlimited. */
  readonly limit: number | null;
  readonly used: number;
  readonly remaining: number | null;
  /** When more calls are possible than now; now when nothing is used. */
  readonly resetAt: string;
}

/** The reply's data, in the field order of D-5.5. */
export interface UsageBody {
  readonly plan: PlanName;
  readonly minute: LimitUsage;
  readonly month: LimitUsage;
}

/** Makes the body; `blockingMs` as in `MeterReading`. */
export function usageBody(
  plan: PlanName,
  quotas: Quotas,
  blockingMs: number | null,
  nowMs: number,
): UsageBody {
  const minuteResetMs = blockingMs === null ? nowMs : blockingMs + MINUTE_WINDOW_MS;
  const monthResetMs = nowMs + quotas.month.resetSeconds * 1000;
  return {
    plan,
    minute: limitUsage(quotas.minute, minuteResetMs),
    // Months end with a whole second, and `resetSeconds` is rounded up.
    month: limitUsage(quotas.month, monthResetMs - (monthResetMs % 1000)),
  };
}

function limitUsage({ limit, used, remaining }: Quota, resetMs: number): LimitUsage {
  return { limit, used, remaining, resetAt: formatMs(resetMs) };
}

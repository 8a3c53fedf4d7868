// Plans and what they allow. R-8, D-5.7.
import { type InputProblem, refuse } from "../../shared/errors.ts";
import { PLAN_LIMITS } from "../../shared/limits.ts";

export type PlanName = keyof typeof PLAN_LIMITS;

/** The smallest first. */
export const PLAN_NAMES: readonly PlanName[] = Object.keys(PLAN_LIMITS) as PlanName[];

/** The plan of an account, with the numbers agreed for it. */
export interface AccountPlan {
  readonly plan: PlanName;
  /** Only on enterprise; null: what the plan says, an unlimited month. D-5.7. */
  readonly callsPerMonth: number | null;
  /** Only on enterprise; null: what the plan says, 6,000. D-5.7. */
  readonly rateLimitPerMinute: number | null;
}

/** The limits of an account, over all its keys. D-5.6. */
export interface EffectiveLimits {
  /** Calls in any 60 seconds, 1 or more. */
  readonly callsPerMinute: number;
  /** Calls in a UTC calendar month, 1 or more; null when unlimited. */
  readonly callsPerMonth: number | null;
}

export const NEW_ACCOUNT_PLAN: AccountPlan = {
  plan: "free",
  callsPerMonth: null,
  rateLimitPerMinute: null,
};

/** Agreed numbers have an effect on enterprise only. R-8, D-5.7. */
export function effectiveLimits(plan: AccountPlan): EffectiveLimits {
  const limits = PLAN_LIMITS[plan.plan];
  if (plan.plan !== "enterprise") return limits;
  return {
    callsPerMinute: plan.rateLimitPerMinute ?? limits.callsPerMinute,
    callsPerMonth: plan.callsPerMonth ?? limits.callsPerMonth,
  };
}

/** A requested plan; absent and null numbers mean the same. */
export interface PlanChange {
  readonly plan: PlanName;
  readonly callsPerMonth?: number | null;
  readonly rateLimitPerMinute?: number | null;
}

/** Throws `invalid_request` for an agreed number on another plan than enterprise. D-5.7. */
export function requirePlan(change: PlanChange): AccountPlan {
  const { plan, callsPerMonth = null, rateLimitPerMinute = null } = change;
  const detail = "Only the enterprise plan has it";
  const problems: InputProblem[] = [];
  if (callsPerMonth !== null) problems.push({ pointer: "/calls_per_month", detail });
  if (rateLimitPerMinute !== null) problems.push({ pointer: "/rate_limit_per_minute", detail });
  if (plan !== "enterprise") refuse(problems);
  return { plan, callsPerMonth, rateLimitPerMinute };
}

export interface MonthUsage {
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly used: number;
}

export interface Quota {
  /** Null when unlimited. */
  readonly limit: number | null;
  readonly used: number;
  /** 0 or more; null when unlimited. */
  readonly remaining: number | null;
  /** Whole seconds until more calls are possible than now, rounded up; 0 when nothing is used. */
  readonly resetSeconds: number;
}

/** The calendar month of a time, `YYYY-MM`, UTC. D-6.4. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

export function monthQuota(
  usage: MonthUsage | null,
  { callsPerMonth: limit }: EffectiveLimits,
  nowMs: number,
): Quota {
  const { month, used } = usageAt(usage, nowMs);
  return {
    limit,
    used,
    remaining: limit === null ? null : Math.max(0, limit - used),
    resetSeconds: Math.ceil((endOfMonthMs(month) - nowMs) / 1000),
  };
}

/** The calls of this month. A month in the future, of a clock that was ahead, counts as this one, and shuts nobody out. D-8.4. */
export function usageAt(usage: MonthUsage | null, nowMs: number): MonthUsage {
  const month = monthOf(nowMs);
  return { month, used: usage !== null && usage.month >= month ? usage.used : 0 };
}

function endOfMonthMs(month: string): number {
  const [year, number] = month.split("-").map(Number);
  return Date.UTC(year ?? 0, number ?? 0, 1);
}

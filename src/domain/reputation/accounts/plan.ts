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

/** The limits of a plan; numbers of their own have an effect on enterprise only. R-8, D-5.7. */
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

/** The plan that an account gets. Throws `invalid_request` for a number of another plan than enterprise. D-5.7. */
export function requirePlan(change: PlanChange): AccountPlan {
  const { plan, callsPerMonth = null, rateLimitPerMinute = null } = change;
  const detail = "Only the enterprise plan has it";
  const problems: InputProblem[] = [];
  if (callsPerMonth !== null) problems.push({ pointer: "/calls_per_month", detail });
  if (rateLimitPerMinute !== null) problems.push({ pointer: "/rate_limit_per_minute", detail });
  if (plan !== "enterprise") refuse(problems);
  return { plan, callsPerMonth, rateLimitPerMinute };
}

// Plans and what they allow. R-8, D-5.7.
import { MAX_PLAN_NUMBER, PLAN_LIMITS } from "../../shared/limits.ts";
import { type Checked, checked, type FieldProblem } from "./problem.ts";

/** */
export type PlanName = keyof typeof PLAN_LIMITS;

/** Every plan, the smallest first. */
export const PLAN_NAMES: readonly PlanName[] = Object.keys(PLAN_LIMITS) as PlanName[];

/** The plan of an account, with what was agreed beside it. */
export interface AccountPlan {
  readonly plan: PlanName;
  /** Only on enterprise; null: what the plan says, an unlimited month. D-5.7. */
  readonly callsPerMonth: number | null;
  /** Only on enterprise; null: what the plan says, 6,000. D-5.7. */
  readonly rateLimitPerMinute: number | null;
}

/** The limits that hold for an account, over all its keys. D-5.6. */
export interface EffectiveLimits {
  /** Calls in any 60 seconds, 1 or more. */
  readonly callsPerMinute: number;
  /** Calls in a UTC calendar month, 1 or more; null when unlimited. */
  readonly callsPerMonth: number | null;
}

/** The plan of a new account. D-5.4. */
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

/**
 * Reads the body of a plan change. An absent or null number is none. Problems: an unknown plan, a
 * number for another plan than enterprise, one that is not whole or not within 1 to
 * `MAX_PLAN_NUMBER`. D-5.7.
 */
export function checkPlanChange(body: {
  readonly plan?: unknown;
  readonly calls_per_month?: unknown;
  readonly rate_limit_per_minute?: unknown;
}): Checked<AccountPlan> {
  const plan = PLAN_NAMES.find((name) => name === body.plan);
  const problems: FieldProblem[] = [];
  if (plan === undefined) {
    problems.push({ pointer: "/plan", detail: `Must be one of ${PLAN_NAMES.join(", ")}` });
  }
  for (const name of ["calls_per_month", "rate_limit_per_minute"] as const) {
    const detail = numberProblem(body[name] ?? null, plan);
    if (detail !== null) problems.push({ pointer: `/${name}`, detail });
  }
  return checked(problems, () => ({
    plan: plan ?? "free",
    callsPerMonth: (body.calls_per_month ?? null) as number | null,
    rateLimitPerMinute: (body.rate_limit_per_minute ?? null) as number | null,
  }));
}

function numberProblem(value: unknown, plan: PlanName | undefined): string | null {
  if (value === null) return null;
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > MAX_PLAN_NUMBER) {
    return `Must be a whole number from 1 to ${MAX_PLAN_NUMBER}`;
  }
  return plan === undefined || plan === "enterprise" ? null : "Only the enterprise plan has it";
}

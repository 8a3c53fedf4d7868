import { checkPlanChange, type PlanName } from "../../../domain/reputation/accounts/plan.ts";
import {
  ReputationError,
  requireValid,
} from "../../../domain/reputation/accounts/reputation-error.ts";
import type { AccountDeps } from "./deps.ts";

/** An account's plan, in the field order of D-5.7. */
export interface PlanBody {
  readonly username: string;
  readonly plan: PlanName;
  /** Null: what the plan says. */
  readonly calls_per_month: number | null;
  readonly rate_limit_per_minute: number | null;
}

/** Changes an account's plan, for its next call. Throws `invalid_request`, `not_found`. D-5.7. */
export async function changePlan(
  deps: Pick<AccountDeps, "accounts">,
  username: string,
  body: Readonly<Record<string, unknown>>,
): Promise<PlanBody> {
  const plan = requireValid(checkPlanChange(body));
  const account = await deps.accounts.update(username, plan);
  if (account === null) throw new ReputationError("not_found", "There is no such account");
  return {
    username,
    plan: account.plan,
    calls_per_month: account.callsPerMonth,
    rate_limit_per_minute: account.rateLimitPerMinute,
  };
}

import {
  type PlanChange,
  type PlanName,
  requirePlan,
} from "../../../domain/reputation/accounts/plan.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { AccountDeps } from "./deps.ts";

/** An account's plan, in the field order of D-5.7. */
interface PlanBody {
  readonly username: string;
  readonly plan: PlanName;
  /** Null: what the plan says. */
  readonly callsPerMonth: number | null;
  readonly rateLimitPerMinute: number | null;
}

/** Changes an account's plan, for its next call. Throws `invalid_request`, `not_found`. D-5.7. */
export async function changePlan(
  deps: Pick<AccountDeps, "accounts">,
  username: string,
  change: PlanChange,
): Promise<PlanBody> {
  const plan = requirePlan(change);
  const account = await deps.accounts.update(username, plan);
  if (account === null) throw new AppError("not_found", "There is no such account");
  return {
    username,
    plan: account.plan,
    callsPerMonth: account.callsPerMonth,
    rateLimitPerMinute: account.rateLimitPerMinute,
  };
}

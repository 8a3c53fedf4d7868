import type { Account } from "../../../domain/reputation/accounts/account.ts";
import {
  type PlanChange,
  type PlanName,
  requirePlan,
} from "../../../domain/reputation/accounts/plan.ts";
import type { AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import { known } from "./administer.ts";
import type { AccountDeps } from "./deps.ts";

/** An account's plan, in the field order of D-5.7. */
export interface PlanBody {
  readonly username: string;
  readonly plan: PlanName;
  /** Null: what the plan says. */
  readonly callsPerMonth: number | null;
  readonly rateLimitPerMinute: number | null;
}

/** Changes an account's plan, for its next call. Throws `invalid_request`, `not_found`. D-5.7, D-8.8. */
export async function changePlan(
  deps: AccountDeps,
  { username, ...change }: PlanChange & { readonly username: string },
  request: AdminRequest,
): Promise<PlanBody> {
  const plan = requirePlan(change);
  return planBody(known(await deps.administration.changePlan(username, plan, request)));
}

/** Throws `not_found`. */
export async function readPlan(deps: AccountDeps, username: string): Promise<PlanBody> {
  return planBody(known(await deps.accounts.find(username)));
}

function planBody({ username, plan, callsPerMonth, rateLimitPerMinute }: Account): PlanBody {
  return { username, plan, callsPerMonth, rateLimitPerMinute };
}

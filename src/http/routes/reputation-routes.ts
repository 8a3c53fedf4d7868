import { Elysia } from "elysia";
import type { Timer } from "../../ports/runtime/runtime.ts";
import type { AccountDeps } from "../../usecases/reputation/accounts/deps.ts";
import type { AuditVerifications } from "../../usecases/reputation/audit/audit-verifications.ts";
import type { Lookups } from "../../usecases/reputation/lookups/look-up.ts";
import { apiKeyRoutes } from "./account/api-key-routes.ts";
import { consentRoutes } from "./account/consent-routes.ts";
import { meRoutes } from "./account/me-routes.ts";
import { sessionRoutes } from "./account/session-routes.ts";
import { accountRoutes } from "./admin/account-routes.ts";
import { auditRoutes } from "./admin/audit-routes.ts";
import { planRoutes } from "./admin/plan-routes.ts";
import { lookupRoutes } from "./reputation/lookup-routes.ts";

export interface ReputationRoutesDeps {
  readonly accounts: AccountDeps;
  readonly lookups: Lookups;
  readonly verifications: AuditVerifications;
  readonly timer: Timer;
  readonly trustedProxyHops: number;
}

/** Every route of the reputation interface but health. R-4, D-5. */
export function reputationRoutes(deps: ReputationRoutesDeps) {
  const { accounts, lookups, trustedProxyHops } = deps;
  return new Elysia()
    .use(lookupRoutes(lookups))
    .use(sessionRoutes(accounts, trustedProxyHops))
    .use(meRoutes(accounts))
    .use(apiKeyRoutes(accounts))
    .use(consentRoutes(accounts))
    .use(planRoutes(accounts))
    .use(accountRoutes(accounts))
    .use(auditRoutes(deps));
}

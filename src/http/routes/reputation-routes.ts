import type { AccountDeps } from "../../usecases/reputation/accounts/deps.ts";
import type { Lookups } from "../../usecases/reputation/lookups/look-up.ts";
import type { Operation } from "../operation.ts";
import { apiKeyRoutes } from "./account/api-key-routes.ts";
import { consentRoutes } from "./account/consent-routes.ts";
import { meRoutes } from "./account/me-routes.ts";
import { sessionRoutes } from "./account/session-routes.ts";
import { accountRoutes } from "./admin/account-routes.ts";
import { type AuditRouteDeps, auditRoutes } from "./admin/audit-routes.ts";
import { lookupRoutes } from "./reputation/lookup-routes.ts";

export interface ReputationRoutesDeps extends AuditRouteDeps {
  readonly accounts: AccountDeps;
  readonly lookups: Lookups;
}

/** Every operation of the reputation interface but health. R-4, D-5. */
export function reputationRoutes(deps: ReputationRoutesDeps): Operation[] {
  const { accounts, lookups } = deps;
  return [
    ...lookupRoutes(lookups),
    ...sessionRoutes(accounts),
    ...meRoutes(accounts),
    ...apiKeyRoutes(accounts),
    ...consentRoutes(accounts),
    ...accountRoutes(accounts),
    ...auditRoutes(deps),
  ];
}

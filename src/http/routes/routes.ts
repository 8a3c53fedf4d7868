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
import { fileRoutes } from "./sync/file-routes.ts";
import { pageRoutes, type ServedSync, statusRoute } from "./sync/page-routes.ts";
import { pushRoute } from "./sync/push-route.ts";
import { rejectedRoutes } from "./sync/rejected-routes.ts";
import { rowRoutes } from "./sync/row-routes.ts";
import type { SyncAdministration } from "./sync/run-replies.ts";
import { runRoutes } from "./sync/run-routes.ts";
import { tableRoutes } from "./sync/table-routes.ts";
import { triggerRoutes } from "./sync/trigger-routes.ts";

/** Every operation under `/api/v1/sync`. S-4, D-4, D-7, D-9.5. */
export function syncRoutes(served: ServedSync, administration: SyncAdministration): Operation[] {
  return [
    ...pageRoutes(served),
    pushRoute(served),
    statusRoute(served),
    ...triggerRoutes(administration),
    ...runRoutes(administration),
    ...rejectedRoutes(administration),
    ...tableRoutes(administration),
    ...fileRoutes(administration),
    ...rowRoutes(administration),
  ];
}

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

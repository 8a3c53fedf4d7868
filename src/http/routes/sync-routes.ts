import type { Operation } from "../operation.ts";
import { type PageRouteDeps, pageRoutes } from "./sync/page-routes.ts";
import { type PushRouteDeps, pushRoute } from "./sync/push-route.ts";
import { rejectedRoutes } from "./sync/rejected-routes.ts";
import type { SyncAdministration } from "./sync/run-replies.ts";
import { runRoutes } from "./sync/run-routes.ts";
import { type StatusRouteDeps, statusRoute } from "./sync/status-route.ts";
import { tableRoutes } from "./sync/table-routes.ts";
import { triggerRoutes } from "./sync/trigger-routes.ts";

/** What needs the sync key, and the status. */
export interface SyncKeyRoutesDeps extends PageRouteDeps, PushRouteDeps, StatusRouteDeps {}

/** Every operation under `/api/v1/sync`. S-4, D-4, D-7, D-9.5. */
export function syncRoutes(
  keyed: SyncKeyRoutesDeps,
  administration: SyncAdministration,
): Operation[] {
  return [
    ...pageRoutes(keyed),
    pushRoute(keyed),
    statusRoute(keyed),
    ...triggerRoutes(administration),
    ...runRoutes(administration),
    ...rejectedRoutes(administration),
    ...tableRoutes(administration),
  ];
}

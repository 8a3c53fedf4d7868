import type { Operation } from "../operation.ts";
import { type PageRouteDeps, pageRoutes } from "./sync/page-routes.ts";
import { type PushRouteDeps, pushRoute } from "./sync/push-route.ts";
import { type RejectedRouteDeps, rejectedRoutes } from "./sync/rejected-routes.ts";
import { type RunRouteDeps, runRoutes } from "./sync/run-routes.ts";
import { type StatusRouteDeps, statusRoute } from "./sync/status-route.ts";
import { type TableRouteDeps, tableRoutes } from "./sync/table-routes.ts";
import { type TriggerRouteDeps, triggerRoutes } from "./sync/trigger-routes.ts";

/** What needs the sync key, and the status. */
export interface SyncKeyRoutesDeps extends PageRouteDeps, PushRouteDeps, StatusRouteDeps {}

/** What is for administrators. */
export interface SyncAdministratorRoutesDeps
  extends TriggerRouteDeps,
    RunRouteDeps,
    RejectedRouteDeps,
    TableRouteDeps {}

/** Every operation under `/api/v1/sync`. S-4, D-4, D-7, D-9.5. */
export function syncRoutes(
  keyed: SyncKeyRoutesDeps,
  administrators: SyncAdministratorRoutesDeps,
): Operation[] {
  return [
    ...pageRoutes(keyed),
    pushRoute(keyed),
    statusRoute(keyed),
    ...triggerRoutes(administrators),
    ...runRoutes(administrators),
    ...rejectedRoutes(administrators),
    ...tableRoutes(administrators),
  ];
}

import { Elysia } from "elysia";
import type { Operation } from "../operation.ts";
import { type CompareRouteDeps, compareRoutes } from "./sync/compare-routes.ts";
import { type OverviewRouteDeps, overviewRoute } from "./sync/overview-route.ts";
import { type PageRouteDeps, pageRoutes as tableRoutes } from "./sync/page-routes.ts";
import { type PushRouteDeps, pushRoute } from "./sync/push-route.ts";
import { type RejectedRouteDeps, rejectedRoutes } from "./sync/rejected-routes.ts";
import { type RowsRouteDeps, rowsRoute } from "./sync/rows-route.ts";
import { type RunRouteDeps, runRoutes } from "./sync/run-routes.ts";
import { type StatusRouteDeps, statusRoute } from "./sync/status-route.ts";
import { tablesRoute } from "./sync/tables-route.ts";
import { type TriggerRouteDeps, triggerRoutes } from "./sync/trigger-routes.ts";

export interface PageRoutesDeps extends PageRouteDeps, PushRouteDeps, StatusRouteDeps {}

export interface RunRoutesDeps
  extends TriggerRouteDeps,
    RunRouteDeps,
    CompareRouteDeps,
    RejectedRouteDeps,
    RowsRouteDeps,
    OverviewRouteDeps {}

/** Pull, push, status, digests, schemas and deletes. S-4.1 to S-4.3, D-4.10, D-7.3, D-7.6. */
export function pageRoutes(deps: PageRoutesDeps): Operation[] {
  return [...tableRoutes(deps), pushRoute(deps), statusRoute(deps)];
}

/** Every route of sync runs. S-4.4, S-4.5, D-4. */
export function syncRunRoutes(deps: RunRoutesDeps) {
  return new Elysia()
    .use(triggerRoutes(deps))
    .use(runRoutes(deps))
    .use(compareRoutes(deps))
    .use(rejectedRoutes(deps))
    .use(tablesRoute(deps))
    .use(rowsRoute(deps))
    .use(overviewRoute(deps));
}

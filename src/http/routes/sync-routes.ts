import { Elysia } from "elysia";
import type { SyncStatusDeps } from "../../usecases/sync/pages/read-sync-status.ts";
import { type CompareRouteDeps, compareRoute } from "./sync/compare-route.ts";
import { type DigestRouteDeps, digestRoute } from "./sync/digest-route.ts";
import { type PullRouteDeps, pullRoute } from "./sync/pull-route.ts";
import { type PushRouteDeps, pushRoute } from "./sync/push-route.ts";
import { type RunRouteDeps, runRoutes } from "./sync/run-routes.ts";
import { statusRoute } from "./sync/status-route.ts";
import { type TriggerRouteDeps, triggerRoutes } from "./sync/trigger-routes.ts";

export interface PageRoutesDeps
  extends PullRouteDeps,
    PushRouteDeps,
    DigestRouteDeps,
    SyncStatusDeps {}

export interface RunRoutesDeps extends TriggerRouteDeps, RunRouteDeps, CompareRouteDeps {}

/** Pull, push, status and digests. S-4.1 to S-4.3, D-4.10. */
export function pageRoutes(deps: PageRoutesDeps) {
  return new Elysia()
    .use(pullRoute(deps))
    .use(pushRoute(deps))
    .use(statusRoute(deps))
    .use(digestRoute(deps));
}

/** Every route of sync runs. S-4.4, S-4.5, D-4. */
export function syncRunRoutes(deps: RunRoutesDeps) {
  return new Elysia().use(triggerRoutes(deps)).use(runRoutes(deps)).use(compareRoute(deps));
}

import { Elysia } from "elysia";
import { type CompareRouteDeps, compareRoute } from "./sync/compare-route.ts";
import { type RunRouteDeps, runRoutes } from "./sync/run-routes.ts";
import { type TriggerRouteDeps, triggerRoutes } from "./sync/trigger-routes.ts";

/** What the routes of administrators need beside what a request brings. */
export type SyncRunRouteDeps = Omit<
  TriggerRouteDeps & RunRouteDeps & CompareRouteDeps,
  "exchangeOf"
>;

/** Every route of sync runs. S-4.4, S-4.5, D-4. */
export function syncRunRoutes(deps: SyncRunRouteDeps & Pick<TriggerRouteDeps, "exchangeOf">) {
  return new Elysia().use(triggerRoutes(deps)).use(runRoutes(deps)).use(compareRoute(deps));
}

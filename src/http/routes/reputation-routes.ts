import { Elysia } from "elysia";
import { type ApiKeyRouteDeps, apiKeyRoutes } from "./account/api-key-routes.ts";
import { type ConsentRouteDeps, consentRoutes } from "./account/consent-routes.ts";
import { type MeRouteDeps, meRoutes } from "./account/me-routes.ts";
import { planRoute } from "./account/plan-route.ts";
import { type SessionRouteDeps, sessionRoutes } from "./account/session-routes.ts";
import { type LookupRouteDeps, lookupRoutes } from "./reputation/lookup-routes.ts";

/** What the reputation interface needs beside what a request brings. */
export type ReputationRouteDeps = Omit<
  ApiKeyRouteDeps & ConsentRouteDeps & MeRouteDeps & SessionRouteDeps & LookupRouteDeps,
  "exchangeOf"
>;

/** Every route of the reputation interface but health. R-4, D-5. */
export function reputationRoutes(deps: ReputationRouteDeps & Pick<SessionRouteDeps, "exchangeOf">) {
  return new Elysia()
    .use(lookupRoutes(deps))
    .use(sessionRoutes(deps))
    .use(meRoutes(deps))
    .use(apiKeyRoutes(deps))
    .use(consentRoutes(deps))
    .use(planRoute(deps));
}

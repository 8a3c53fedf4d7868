import { Elysia } from "elysia";
import { type OverviewDeps, readOverview } from "../../../usecases/operations/read-overview.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { jsonReply } from "../../openapi.ts";
import { ADMINISTRATOR_FAILURES, administratorDetail } from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { OverviewSchema } from "../../schemas/overview.ts";

export interface OverviewRouteDeps {
  readonly identity: IdentityDeps;
  readonly overview: OverviewDeps;
}

/** `GET /api/v1/sync/overview`, with sync disabled too. D-9.5. */
export function overviewRoute({ identity, overview }: OverviewRouteDeps) {
  return new Elysia().get(
    "/api/v1/sync/overview",
    async ({ request }) => {
      await requireAdministrator(identity, request);
      exchangeOf(request).connection.keepOpen();
      return jsonResponse(await traced(request, readOverview)(overview));
    },
    { detail: OVERVIEW_DETAIL },
  );
}

const OVERVIEW_DETAIL = administratorDetail("readOverview", "Read how synchronization is doing", {
  description:
    "The remote is asked for its status at most every 15 seconds; one that cannot be reached is told.",
  responses: {
    ...ADMINISTRATOR_FAILURES,
    200: jsonReply("The overview", OverviewSchema),
  },
});

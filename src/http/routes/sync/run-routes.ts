import { Elysia } from "elysia";
import type { ListParameters } from "../../../domain/shared/list-query.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import {
  dropRejected,
  findRun,
  listRejected,
  listRuns,
} from "../../../usecases/sync/runs/sync-lists.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { jsonResponse } from "../../replies.ts";
import { queryOf } from "../../routing.ts";
import { DROP_REJECTED_DETAIL, REJECTED_DETAIL, RUN_DETAIL, RUNS_DETAIL } from "./run-docs.ts";

/** What the lists of runs and of rejected records need. */
export interface RunRouteDeps {
  readonly identity: IdentityDeps;
  readonly sync: SyncDeps;
}

/** `/api/v1/sync/runs` and `/api/v1/sync/rejected`. D-4.9. */
export function runRoutes(deps: RunRouteDeps) {
  const allow = async ({ headers }: Request) => {
    await requireAdministrator(deps.identity, headers);
  };
  return new Elysia()
    .get(
      "/api/v1/sync/runs",
      async ({ request }) => {
        await allow(request);
        return jsonResponse(await listRuns(deps.sync, listParameters(request)));
      },
      { detail: RUNS_DETAIL },
    )
    .get(
      "/api/v1/sync/runs/:run_id",
      async ({ request, params }) => {
        await allow(request);
        return jsonResponse(await findRun(deps.sync, params.run_id));
      },
      { detail: RUN_DETAIL },
    )
    .get(
      "/api/v1/sync/rejected",
      async ({ request }) => {
        await allow(request);
        const table = queryOf(request).get("table") || null;
        return jsonResponse(await listRejected(deps.sync, listParameters(request), table));
      },
      { detail: REJECTED_DETAIL },
    )
    .delete(
      "/api/v1/sync/rejected/:id",
      async ({ request, params }) => {
        await allow(request);
        await dropRejected(deps.sync, params.id);
        return jsonResponse({ status: "dropped" });
      },
      { parse: "none", detail: DROP_REJECTED_DETAIL },
    );
}

function listParameters(request: Request): ListParameters {
  const query = queryOf(request);
  return { limit: query.get("limit"), cursor: query.get("cursor") };
}

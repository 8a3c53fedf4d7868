import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { FromWire } from "../../../domain/shared/wire-names.ts";
import type { RunRequest, SyncRun } from "../../../domain/sync/run/run.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import { exchangeOf } from "../../exchange.ts";
import { readAdministratorBody } from "../../guards/bearer.ts";
import { eventStream, jsonResponse } from "../../replies.ts";
import { StreamRequest, TriggerRequest } from "../../schemas/runs.ts";
import { STREAM_DETAIL, TRIGGER_DETAIL } from "./run-docs.ts";

/** What the trigger routes need. */
export interface TriggerRouteDeps {
  readonly identity: IdentityDeps;
  readonly activeRuns: ActiveRuns;
  readonly timer: Timer;
}

/** `POST /api/v1/sync/trigger` and `/trigger-sse`. S-4.4, S-4.5, D-4.1 to D-4.4. */
export function triggerRoutes(deps: TriggerRouteDeps) {
  const { identity, activeRuns } = deps;
  return new Elysia()
    .post(
      "/api/v1/sync/trigger",
      async ({ request }) => {
        const wanted = await readAdministratorBody(identity, request, TriggerRequest);
        const run = activeRuns.start(runRequest(wanted, "api"));
        exchangeOf(request).connection.keepOpen();
        const outcome = await run.outcome;
        if (outcome.error !== null) throw outcome.error;
        return jsonResponse(triggerResult(outcome.run));
      },
      { parse: "none", detail: TRIGGER_DETAIL },
    )
    .post(
      "/api/v1/sync/trigger-sse",
      async ({ request }) => {
        const wanted = await readAdministratorBody(identity, request, StreamRequest);
        const run = activeRuns.start(runRequest({ direction: "push", ...wanted }, "stream"));
        exchangeOf(request).connection.keepOpen();
        return eventStream(run.events(), deps.timer);
      },
      { parse: "none", detail: STREAM_DETAIL },
    );
}

/** What to sync, with the defaults of S-4.4. */
function runRequest(
  wanted: FromWire<Static<typeof TriggerRequest>>,
  trigger: RunRequest["trigger"],
): RunRequest {
  const { direction = "both", table = null, full = false, dryRun = false } = wanted;
  return { direction, tableName: table, isFull: full, isDryRun: dryRun, trigger };
}

/** D-4.3, S-4.4.4. */
function triggerResult({ trigger: _, dryRun: isDryRun, ...result }: SyncRun) {
  return isDryRun ? { ...result, dryRun: true } : result;
}

import { Elysia } from "elysia";
import type { SyncRun } from "../../../domain/sync/run/run.ts";
import { readStreamBody, readTriggerBody } from "../../../domain/sync/run/trigger-body.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import { eventStream } from "../../event-stream.ts";
import { exchangeOf } from "../../exchange.ts";
import { requireAdministrator, requireThenRead } from "../../guards/bearer.ts";
import { jsonResponse } from "../../json-response.ts";
import { readObjectBody } from "../../object-body.ts";
import { STREAM_DETAIL, TRIGGER_DETAIL } from "./run-docs.ts";

/** What the trigger routes need. */
export interface TriggerRouteDeps {
  readonly identity: IdentityDeps;
  readonly activeRuns: ActiveRuns;
  readonly timer: Timer;
}

/** `POST /api/v1/sync/trigger` and `/trigger-sse`. S-4.4, S-4.5, D-4.1 to D-4.4. */
export function triggerRoutes(deps: TriggerRouteDeps) {
  const { activeRuns } = deps;
  const readWanted = async (request: Request) => {
    const required = () => requireAdministrator(deps.identity, request.headers);
    return (await requireThenRead(required, () => readObjectBody(request))).body;
  };
  return new Elysia()
    .post(
      "/api/v1/sync/trigger",
      async ({ request }) => {
        const body = readTriggerBody(await readWanted(request));
        exchangeOf(request).connection.keepOpen();
        const { run, error } = await activeRuns.start({ ...body, trigger: "api" }).outcome;
        if (error !== null) throw error;
        return jsonResponse(triggerResult(run));
      },
      { parse: "none", detail: TRIGGER_DETAIL },
    )
    .post(
      "/api/v1/sync/trigger-sse",
      async ({ request }) => {
        const body = readStreamBody(await readWanted(request));
        const run = activeRuns.start({ ...body, trigger: "stream" });
        exchangeOf(request).connection.keepOpen();
        return eventStream(run.events(), deps.timer);
      },
      { parse: "none", detail: STREAM_DETAIL },
    );
}

/** D-4.3, S-4.4.4. */
function triggerResult({ trigger: _, dryRun: isDryRun, ...result }: SyncRun) {
  return isDryRun ? { ...result, dryRun: true } : result;
}

import type { Static, TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { FromWire } from "../../../domain/shared/wire-names.ts";
import type { RunRequest, SyncRun } from "../../../domain/sync/run/run.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import { runItem } from "../../../usecases/sync/runs/run-item.ts";
import { exchangeOf } from "../../exchange.ts";
import { readAdministratorBody } from "../../guards/bearer.ts";
import { jsonReply, jsonRequest } from "../../openapi.ts";
import {
  ADMINISTRATOR_FAILURES,
  administratorDetail,
  BODY_FAILURES,
  bodyDoc,
  REMOTE_FAILURES,
} from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { RunEventSchema } from "../../schemas/run-events.ts";
import {
  StreamRequestSchema,
  SyncRunSchema,
  TriggerRequestSchema,
  TriggerResultSchema,
} from "../../schemas/runs.ts";
import { newsStream, STREAM_FAILED, STREAM_TEXT, streamReplyDoc } from "./news-stream.ts";

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
        const wanted = await readAdministratorBody(identity, request, TriggerRequestSchema);
        const run = activeRuns.start(runRequest(wanted, "api"));
        exchangeOf(request).connection.keepOpen();
        if (wanted.wait === false) return jsonResponse(runItem(await run.begun()), { status: 202 });
        const outcome = await run.outcome;
        if (outcome.error !== null) throw outcome.error;
        return jsonResponse(triggerResult(outcome.run));
      },
      { parse: "none", detail: TRIGGER_DETAIL },
    )
    .post(
      "/api/v1/sync/trigger-sse",
      async ({ request }) => {
        const wanted = await readAdministratorBody(identity, request, StreamRequestSchema);
        const run = activeRuns.start(runRequest({ direction: "push", ...wanted }, "stream"));
        exchangeOf(request).connection.keepOpen();
        return newsStream(run.news(), run.runId, deps.timer);
      },
      { parse: "none", detail: STREAM_DETAIL },
    );
}

/** The run of a body, with the defaults of S-4.4. */
function runRequest(
  wanted: FromWire<Static<typeof TriggerRequestSchema>>,
  trigger: RunRequest["trigger"],
): RunRequest {
  const { direction = "both", table = null, full = false, dryRun = false } = wanted;
  const { force: isForced = false, maxDeletes = null } = wanted;
  const flags = { isFull: full, isDryRun: dryRun, isForced, maxDeletes };
  return { direction, tableName: table, ...flags, trigger };
}

function triggerResult({ kind: _kind, trigger: _, dryRun: isDryRun, ...result }: SyncRun) {
  return isDryRun ? { ...result, dryRun: true } : result;
}

const TRIGGER_DETAIL = administratorDetail("triggerSync", "Run a sync", {
  description:
    "With `both` a table is pushed, then pulled. Answers when the run ends, or with `wait: false` once it has begun. " +
    "A client that leaves does not end the run.",
  requestBody: optionalBody(TriggerRequestSchema),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...REMOTE_FAILURES,
    200: jsonReply("The result of the run", TriggerResultSchema),
    202: jsonReply("With `wait: false`: the run, which goes on", SyncRunSchema),
  },
});

const STREAM_DETAIL = administratorDetail("triggerSyncStream", "Run a sync and watch it", {
  description: STREAM_TEXT,
  requestBody: bodyDoc(StreamRequestSchema),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...BODY_FAILURES,
    500: STREAM_FAILED,
    200: streamReplyDoc("The events; failures of the run are among them", RunEventSchema),
  },
});

function optionalBody(schema: TSchema) {
  return { ...jsonRequest(schema), required: false };
}

// Runs and comparisons that are started here. S-4.4, S-4.5, D-4.1 to D-4.4, D-4.10, D-9.5.

import { type Static, Type } from "@sinclair/typebox";
import type { FromWire } from "../../../domain/shared/wire-names.ts";
import type { RunRequest, SyncRun } from "../../../domain/sync/run/run.ts";
import type { CompareRequest } from "../../../usecases/sync/runs/start-comparison.ts";
import { Answer } from "../../description.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { CompareEventSchema, RunEventSchema } from "../../schemas/run-events.ts";
import {
  CompareRequestSchema,
  CompareResultSchema,
  StreamRequestSchema,
  SyncRunSchema,
  TriggerRequestSchema,
  TriggerResultSchema,
} from "../../schemas/runs.ts";
import {
  newsReply,
  REMOTE_FAILURES,
  STREAM_FAILURES,
  STREAM_TEXT,
  type SyncAdministration,
  tell,
} from "./run-replies.ts";

export function triggerRoutes(deps: SyncAdministration): Operation[] {
  return [...runs(deps), ...comparisons(deps)];
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

function compareRequest(
  wanted: FromWire<Static<typeof CompareRequestSchema>>,
  trigger: CompareRequest["trigger"],
): CompareRequest {
  const { table, repair = null, delete: deletes = false, maxDeletes = null } = wanted;
  const { force: isForced = false } = wanted;
  return { tableName: table, repair, deletes, maxDeletes, isForced, trigger };
}

function runs({ identity, activeRuns }: SyncAdministration): Operation[] {
  return [
    operation({
      at: "POST /api/v1/sync/trigger",
      id: "triggerSync",
      summary: "Run a sync",
      description:
        "With `both` a table is pushed, then pulled. Answers when the run ends, or with `wait: false` once it has begun. " +
        "A client that leaves does not end the run.",
      guard: syncAdministrator(identity),
      body: TriggerRequestSchema,
      replies: {
        ...REMOTE_FAILURES,
        // A run that has not failed has ended.
        200: json("The result of the run", Type.Unsafe<SyncRun>(TriggerResultSchema)),
        202: json("With `wait: false`: the run, which goes on", SyncRunSchema),
      },
      isSlow: true,
      run: async ({ body }) => {
        const run = activeRuns.start(runRequest(body, "api"));
        if (body.wait === false) return new Answer(202, await run.begun());
        const outcome = await run.outcome;
        if (outcome.error !== null) throw outcome.error;
        return outcome.run;
      },
    }),
    operation({
      at: "POST /api/v1/sync/trigger-sse",
      id: "triggerSyncStream",
      summary: "Run a sync and watch it",
      description: STREAM_TEXT,
      guard: syncAdministrator(identity),
      body: StreamRequestSchema,
      replies: {
        ...STREAM_FAILURES,
        200: newsReply("The events; failures of the run are among them", RunEventSchema),
      },
      isSlow: true,
      run: ({ caller, body }) => {
        const run = activeRuns.start(runRequest({ direction: "push", ...body }, "stream"));
        return tell(run.news(), run.runId, caller);
      },
    }),
  ];
}

function comparisons({ identity, activeRuns }: SyncAdministration): Operation[] {
  return [
    operation({
      at: "POST /api/v1/sync/compare",
      id: "compareTable",
      summary: "Compare a table with the remote's",
      description: "With `repair` the rows that differ are sent or fetched.",
      guard: syncAdministrator(identity),
      body: CompareRequestSchema,
      replies: { ...REMOTE_FAILURES, 200: json("What was found", CompareResultSchema) },
      isSlow: true,
      run: async ({ body }) => {
        const { result, error } = await activeRuns.compare(compareRequest(body, "api")).outcome;
        if (error !== null) throw error;
        return result;
      },
    }),
    operation({
      at: "POST /api/v1/sync/compare-sse",
      id: "compareTableStream",
      summary: "Compare a table and watch it",
      description: `As without a stream. ${STREAM_TEXT}`,
      guard: syncAdministrator(identity),
      body: CompareRequestSchema,
      replies: {
        ...STREAM_FAILURES,
        200: newsReply("The events; a failure is among them", CompareEventSchema),
      },
      isSlow: true,
      run: ({ caller, body }) => {
        const started = activeRuns.compare(compareRequest(body, "stream"));
        return tell(started.news(), started.runId, caller);
      },
    }),
  ];
}

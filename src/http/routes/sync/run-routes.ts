// Starts, lists, watches and ends runs and comparisons, and the records that they reject. S-4.4, S-4.5, D-4.1 to D-4.4, D-4.9, D-4.10,
// D-7.8, D-9.5.
import { type Static, Type } from "@sinclair/typebox";
import { MAX_CANCEL_MS, MAX_KEPT_RUNS, MAX_LISTED_RESULTS } from "../../../domain/shared/limits.ts";
import { formatCount } from "../../../domain/shared/text.ts";
import type { FromWire } from "../../../domain/shared/wire-names.ts";
import type { RunRequest, SyncRun } from "../../../domain/sync/run/run.ts";
import {
  dropRejected,
  listRejected,
  readRejected,
  retryRejected,
} from "../../../usecases/sync/runs/rejected-lists.ts";
import type { CompareRequest } from "../../../usecases/sync/runs/start-comparison.ts";
import { cancelRun, findRun, listRuns } from "../../../usecases/sync/runs/stored-runs.ts";
import { Answer } from "../../description.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { given, givenId, LIST_QUERY, model } from "../../schemas/parts.ts";
import { CompareEventSchema, ImportEventSchema, RunEventSchema } from "../../schemas/run-events.ts";
import {
  CompareRequestSchema,
  CompareResultSchema,
  ImportRunSchema,
  RejectedDetailSchema,
  RejectedListSchema,
  RetryResultSchema,
  RunListSchema,
  RunSchema,
  StreamRequestSchema,
  SyncRunErrorSchema,
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

const RUN_ID = { run_id: givenId("Id of a run, a dry run, a comparison or an import") };
const UNKNOWN = { 404: "No run has this id" };

export function runRoutes(deps: SyncAdministration): Operation[] {
  const runs = [...starting(deps), ...comparing(deps), ...listing(deps), ...following(deps)];
  return [...runs, ...rejected(deps)];
}

function listing({ identity, sync }: SyncAdministration): Operation[] {
  return [
    operation({
      at: "GET /api/v1/sync/runs",
      id: "listSyncRuns",
      summary: `List the last ${formatCount(MAX_KEPT_RUNS)} runs, newest first`,
      description: `A part ends, too, where its runs have told of ${formatCount(MAX_LISTED_RESULTS)} tables together.`,
      guard: syncAdministrator(identity),
      query: LIST_QUERY,
      replies: { 200: json("A part of the list", RunListSchema), 400: "A bad limit or cursor" },
      run: ({ query }) => listRuns(sync, query),
    }),
    operation({
      at: "GET /api/v1/sync/runs/:run_id",
      id: "readSyncRun",
      summary: "Read one run",
      description: "A dry run can be read until it ends.",
      guard: syncAdministrator(identity),
      params: { run_id: givenId("Id of a run") },
      replies: { 200: json("The run", RunSchema), ...UNKNOWN },
      run: ({ params }) => findRun(sync, params.runId),
    }),
  ];
}

function following({ identity, sync, activeRuns }: SyncAdministration): Operation[] {
  return [
    operation({
      at: "GET /api/v1/sync/runs/:run_id/events",
      id: "watchSyncRun",
      summary: "Watch a run, a comparison or an import",
      description: `What it told so far, put together, then what it tells, whichever instance it is on, at most 1 s late. ${STREAM_TEXT}`,
      guard: syncAdministrator(identity),
      params: RUN_ID,
      replies: {
        200: newsReply(
          "The events",
          Type.Union([RunEventSchema, CompareEventSchema, ImportEventSchema]),
        ),
        ...UNKNOWN,
      },
      isSlow: true,
      run: async ({ caller, params: { runId } }) =>
        tell(await activeRuns.watch(runId), runId, caller),
    }),
    operation({
      at: "POST /api/v1/sync/runs/:run_id/cancel",
      id: "cancelSyncRun",
      summary: "End a run, a comparison or an import",
      description:
        "It ends before its next write, on whichever instance it is; answers when it has.",
      guard: syncAdministrator(identity),
      params: RUN_ID,
      replies: {
        200: json("It, ended", Type.Union([RunSchema, ImportRunSchema])),
        ...UNKNOWN,
        409: "The run has ended before",
        500: {
          text: `It has not ended within ${MAX_CANCEL_MS / 1000} s`,
          schema: SyncRunErrorSchema,
        },
      },
      isSlow: true,
      run: ({ params, caller }) => cancelRun(sync, params.runId, caller.by),
    }),
  ];
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

function starting({ identity, activeRuns }: SyncAdministration): Operation[] {
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
        // Without an error the run has ended.
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

function comparing({ identity, activeRuns }: SyncAdministration): Operation[] {
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

const RECORD_ID = { id: givenId("Id of a rejected record") };
const UNKNOWN_RECORD = { 404: "No rejected record has this id" };
const DroppedSchema = model("DroppedRecord", { status: Type.Literal("dropped") });

function rejected({ identity, sync, activeRuns }: SyncAdministration): Operation[] {
  return [
    operation({
      at: "GET /api/v1/sync/rejected",
      id: "listRejectedRecords",
      summary: "List records that one end rejected, newest first",
      description: "The next run tries them again first.",
      guard: syncAdministrator(identity),
      query: { table: given("Only records of this table"), ...LIST_QUERY },
      replies: {
        200: json("A part of the list", RejectedListSchema),
        400: "Unknown or unused table, or a bad limit or cursor",
      },
      run: ({ query }) => listRejected(sync, query, query.table || null),
    }),
    operation({
      at: "GET /api/v1/sync/rejected/:id",
      id: "readRejectedRecord",
      summary: "Read a rejected record",
      description: "Integers beyond 2^53 in the record are strings.",
      guard: syncAdministrator(identity),
      params: RECORD_ID,
      replies: { 200: json("It, with the record", RejectedDetailSchema), ...UNKNOWN_RECORD },
      run: ({ params }) => readRejected(sync, params.id),
    }),
    operation({
      at: "POST /api/v1/sync/rejected/:id/retry",
      id: "retryRejectedRecord",
      summary: "Try a rejected record again",
      description:
        "One that was pulled is written here, one that was pushed is sent to the remote, as a run does it. One that was pulled and is older than the row here is dropped.",
      guard: syncAdministrator(identity),
      params: RECORD_ID,
      replies: {
        ...REMOTE_FAILURES,
        ...UNKNOWN_RECORD,
        200: json("What became of it", RetryResultSchema),
        409: "A run moves the table in this direction",
      },
      isSlow: true,
      run: ({ params }) => retryRejected(sync, params.id, activeRuns.stopping),
    }),
    operation({
      at: "DELETE /api/v1/sync/rejected/:id",
      id: "dropRejectedRecord",
      summary: "Drop a rejected record, so that no run tries it again",
      guard: syncAdministrator(identity),
      params: RECORD_ID,
      replies: { 200: json("It was dropped", DroppedSchema), ...UNKNOWN_RECORD },
      run: async ({ params }) => {
        await dropRejected(sync, params.id);
        return { status: "dropped" };
      },
    }),
  ];
}

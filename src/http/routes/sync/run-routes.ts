// The runs and comparisons that there are. D-4.9, D-7.8, D-9.5.

import { Type } from "@sinclair/typebox";
import { MAX_CANCEL_MS, MAX_KEPT_RUNS, MAX_LISTED_RESULTS } from "../../../domain/shared/limits.ts";
import { formatCount } from "../../../domain/shared/text.ts";
import { cancelRun, findRun, listRuns } from "../../../usecases/sync/runs/kept-runs.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { givenId, LIST_QUERY } from "../../schemas/parts.ts";
import { CompareEventSchema, ImportEventSchema, RunEventSchema } from "../../schemas/run-events.ts";
import {
  ImportRunSchema,
  RunListSchema,
  RunSchema,
  SyncRunErrorSchema,
} from "../../schemas/runs.ts";
import { newsReply, STREAM_TEXT, type SyncAdministration, tell } from "./run-replies.ts";

const UNKNOWN = { 404: "No run has this id" };

export function runRoutes(deps: SyncAdministration): Operation[] {
  return [...listing(deps), ...following(deps)];
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
      params: { run_id: givenId("Id of a run, a dry run, a comparison or an import") },
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
      params: { run_id: givenId("Id of a run, a dry run, a comparison or an import") },
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

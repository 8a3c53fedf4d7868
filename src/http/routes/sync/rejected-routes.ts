// Records that one end rejected. D-4.9, D-9.5.
import { Type } from "@sinclair/typebox";
import {
  dropRejected,
  listRejected,
  readRejected,
  retryRejected,
} from "../../../usecases/sync/runs/rejected-lists.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { given, givenId, LIST_QUERY, model } from "../../schemas/parts.ts";
import { RejectedDetailSchema, RejectedListSchema, RetryResultSchema } from "../../schemas/runs.ts";
import { REMOTE_FAILURES, type SyncAdministration } from "./run-replies.ts";

const ID = { id: givenId("Id of a rejected record") };
const UNKNOWN = { 404: "No rejected record has this id" };
const DroppedSchema = model("DroppedRecord", { status: Type.Literal("dropped") });

export function rejectedRoutes(deps: SyncAdministration): Operation[] {
  return [...listing(deps), ...deciding(deps)];
}

function listing({ identity, sync }: SyncAdministration): Operation[] {
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
        400: "Unknown table, or a bad limit or cursor",
      },
      run: ({ query }) => listRejected(sync, query, query.table || null),
    }),
    operation({
      at: "GET /api/v1/sync/rejected/:id",
      id: "readRejectedRecord",
      summary: "Read a rejected record",
      description: "Integers beyond 2^53 in the record are strings.",
      guard: syncAdministrator(identity),
      params: ID,
      replies: { 200: json("It, with the record", RejectedDetailSchema), ...UNKNOWN },
      run: ({ params }) => readRejected(sync, params.id),
    }),
  ];
}

function deciding({ identity, sync, activeRuns }: SyncAdministration): Operation[] {
  return [
    operation({
      at: "POST /api/v1/sync/rejected/:id/retry",
      id: "retryRejectedRecord",
      summary: "Try a rejected record again",
      description:
        "One that was pulled is written here, one that was pushed is sent to the remote, as a run does it. One that was pulled and is older than the row here is dropped.",
      guard: syncAdministrator(identity),
      params: ID,
      replies: {
        ...REMOTE_FAILURES,
        ...UNKNOWN,
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
      params: ID,
      replies: { 200: json("It was dropped", DroppedSchema), ...UNKNOWN },
      run: async ({ params }) => {
        await dropRejected(sync, params.id);
        return { status: "dropped" };
      },
    }),
  ];
}

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { ListParameters } from "../../../domain/shared/list-query.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import { cancelRun } from "../../../usecases/sync/runs/cancel-run.ts";
import {
  dropRejected,
  findRun,
  listRejected,
  listRuns,
} from "../../../usecases/sync/runs/sync-lists.ts";
import { watchRun } from "../../../usecases/sync/runs/watch-run.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { exchangeOf } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { jsonReply, parameterDoc } from "../../openapi.ts";
import {
  ADMINISTRATOR_FAILURES,
  administratorDetail,
  LIST_PARAMETERS,
} from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { queryOf } from "../../routing.ts";
import { model } from "../../schemas/parts.ts";
import { CompareEventSchema, RunEventSchema } from "../../schemas/run-events.ts";
import {
  RejectedListSchema,
  RunListSchema,
  RunSchema,
  SyncRunErrorSchema,
} from "../../schemas/runs.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";
import { newsStream, STREAM_TEXT, streamReplyDoc } from "./news-stream.ts";

export interface RunRouteDeps {
  readonly identity: IdentityDeps;
  readonly sync: SyncDeps;
  readonly activeRuns: ActiveRuns;
  readonly timer: Timer;
}

/** `/api/v1/sync/runs` and `/api/v1/sync/rejected`. D-4.9. */
export function runRoutes(deps: RunRouteDeps) {
  const allow = async (request: Request) => {
    await requireAdministrator(deps.identity, request);
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
      "/api/v1/sync/runs/:run_id/events",
      async ({ request, params }) => {
        await allow(request);
        exchangeOf(request).connection.keepOpen();
        return newsStream(await watchRun(deps, params.run_id), params.run_id, deps.timer);
      },
      { detail: EVENTS_DETAIL },
    )
    .post(
      "/api/v1/sync/runs/:run_id/cancel",
      async ({ request, params }) => {
        const { account } = await requireAdministrator(deps.identity, request);
        exchangeOf(request).connection.keepOpen();
        return jsonResponse(await cancelRun(deps.sync, params.run_id, account.username));
      },
      { parse: "none", detail: CANCEL_DETAIL },
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

const RUNS_DETAIL = administratorDetail("listSyncRuns", "List the last 1,000 runs, newest first", {
  parameters: LIST_PARAMETERS,
  responses: {
    ...ADMINISTRATOR_FAILURES,
    400: jsonReply("A bad limit or cursor", SyncErrorSchema),
    200: jsonReply("A part of the list", RunListSchema),
  },
});

const RUN_DETAIL = administratorDetail("readSyncRun", "Read one run", {
  description: "A dry run can be read until it ends.",
  parameters: [idParameter("run_id", "Id of a run")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: jsonReply("No run has this id", SyncErrorSchema),
    200: jsonReply("The run", RunSchema),
  },
});

const EVENTS_DETAIL = administratorDetail("watchSyncRun", "Watch a run or a comparison", {
  description: `What it told so far, put together, then what it tells, whichever instance it is on, at most 1 s late. ${STREAM_TEXT}`,
  parameters: [idParameter("run_id", "Id of a run, a dry run or a comparison")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: jsonReply("No run has this id", SyncErrorSchema),
    200: streamReplyDoc("The events", Type.Union([RunEventSchema, CompareEventSchema])),
  },
});

const CANCEL_DETAIL = administratorDetail("cancelSyncRun", "End a run or a comparison", {
  description: "It ends before its next write, on whichever instance it is; answers when it has.",
  parameters: [idParameter("run_id", "Id of a run")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: jsonReply("No run has this id", SyncErrorSchema),
    409: jsonReply("The run has ended before", SyncErrorSchema),
    500: jsonReply("It has not ended within 20 s", SyncRunErrorSchema),
    200: jsonReply("The run, ended", RunSchema),
  },
});

const REJECTED_DETAIL = administratorDetail(
  "listRejectedRecords",
  "List records that one end rejected, newest first",
  {
    description: "The next run tries them again first.",
    parameters: [
      parameterDoc("query", "table", {
        description: "Only records of this table",
        schema: { type: "string" },
      }),
      ...LIST_PARAMETERS,
    ],
    responses: {
      ...ADMINISTRATOR_FAILURES,
      400: jsonReply("Unknown table, or a bad limit or cursor", SyncErrorSchema),
      200: jsonReply("A part of the list", RejectedListSchema),
    },
  },
);

const DROP_REJECTED_DETAIL = administratorDetail(
  "dropRejectedRecord",
  "Drop a rejected record, so that no run tries it again",
  {
    parameters: [idParameter("id", "Id of a rejected record")],
    responses: {
      ...ADMINISTRATOR_FAILURES,
      404: jsonReply("No rejected record has this id", SyncErrorSchema),
      200: jsonReply("It was dropped", model("DroppedRecord", { status: Type.Literal("dropped") })),
    },
  },
);

function idParameter(name: string, description: string) {
  return parameterDoc("path", name, { description, schema: { type: "string", minLength: 1 } });
}

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import { cancelRun } from "../../../usecases/sync/runs/cancel-run.ts";
import { findRun, listRuns } from "../../../usecases/sync/runs/sync-lists.ts";
import { watchRun } from "../../../usecases/sync/runs/watch-run.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { jsonReply } from "../../openapi.ts";
import {
  ADMINISTRATOR_FAILURES,
  administratorDetail,
  idParameterDoc,
  LIST_PARAMETERS,
} from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { listParametersOf } from "../../routing.ts";
import { CompareEventSchema, RunEventSchema } from "../../schemas/run-events.ts";
import { RunListSchema, RunSchema, SyncRunErrorSchema } from "../../schemas/runs.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";
import { newsStream, STREAM_TEXT, streamReplyDoc } from "./news-stream.ts";

export interface RunRouteDeps {
  readonly identity: IdentityDeps;
  readonly sync: SyncDeps;
  readonly activeRuns: ActiveRuns;
  readonly timer: Timer;
}

/** `/api/v1/sync/runs`. D-4.9, D-7.8, D-9.5. */
export function runRoutes(deps: RunRouteDeps) {
  const allow = async (request: Request) => {
    await requireAdministrator(deps.identity, request);
  };
  return new Elysia()
    .get(
      "/api/v1/sync/runs",
      async ({ request }) => {
        await allow(request);
        return jsonResponse(await traced(request, listRuns)(deps.sync, listParametersOf(request)));
      },
      { detail: RUNS_DETAIL },
    )
    .get(
      "/api/v1/sync/runs/:run_id",
      async ({ request, params }) => {
        await allow(request);
        return jsonResponse(await traced(request, findRun)(deps.sync, params.run_id));
      },
      { detail: RUN_DETAIL },
    )
    .get(
      "/api/v1/sync/runs/:run_id/events",
      async ({ request, params }) => {
        await allow(request);
        exchangeOf(request).connection.keepOpen();
        return newsStream(
          await traced(request, watchRun)(deps, params.run_id),
          params.run_id,
          deps.timer,
        );
      },
      { detail: EVENTS_DETAIL },
    )
    .post(
      "/api/v1/sync/runs/:run_id/cancel",
      async ({ request, params }) => {
        const { account } = await requireAdministrator(deps.identity, request);
        exchangeOf(request).connection.keepOpen();
        return jsonResponse(
          await traced(request, cancelRun)(deps.sync, params.run_id, account.username),
        );
      },
      { parse: "none", detail: CANCEL_DETAIL },
    );
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
  parameters: [idParameterDoc("run_id", "Id of a run")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: jsonReply("No run has this id", SyncErrorSchema),
    200: jsonReply("The run", RunSchema),
  },
});

const EVENTS_DETAIL = administratorDetail("watchSyncRun", "Watch a run or a comparison", {
  description: `What it told so far, put together, then what it tells, whichever instance it is on, at most 1 s late. ${STREAM_TEXT}`,
  parameters: [idParameterDoc("run_id", "Id of a run, a dry run or a comparison")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: jsonReply("No run has this id", SyncErrorSchema),
    200: streamReplyDoc("The events", Type.Union([RunEventSchema, CompareEventSchema])),
  },
});

const CANCEL_DETAIL = administratorDetail("cancelSyncRun", "End a run or a comparison", {
  description: "It ends before its next write, on whichever instance it is; answers when it has.",
  parameters: [idParameterDoc("run_id", "Id of a run")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: jsonReply("No run has this id", SyncErrorSchema),
    409: jsonReply("The run has ended before", SyncErrorSchema),
    500: jsonReply("It has not ended within 20 s", SyncRunErrorSchema),
    200: jsonReply("The run, ended", RunSchema),
  },
});

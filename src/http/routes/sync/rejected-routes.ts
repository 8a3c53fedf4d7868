import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import {
  dropRejected,
  listRejected,
  readRejected,
  retryRejected,
} from "../../../usecases/sync/runs/rejected-lists.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { jsonReply, parameterDoc } from "../../openapi.ts";
import {
  ADMINISTRATOR_FAILURES,
  administratorDetail,
  idParameterDoc,
  LIST_PARAMETERS,
  REMOTE_FAILURES,
} from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { listParametersOf, queryOf } from "../../routing.ts";
import { model } from "../../schemas/parts.ts";
import { RejectedDetailSchema, RejectedListSchema, RetryResultSchema } from "../../schemas/runs.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";

export interface RejectedRouteDeps {
  readonly identity: IdentityDeps;
  readonly sync: SyncDeps;
  readonly activeRuns: ActiveRuns;
}

/** `/api/v1/sync/rejected`. D-4.9, D-9.5. */
export function rejectedRoutes({ identity, sync, activeRuns }: RejectedRouteDeps) {
  const allow = async (request: Request) => {
    await requireAdministrator(identity, request);
  };
  return new Elysia()
    .get(
      "/api/v1/sync/rejected",
      async ({ request }) => {
        await allow(request);
        const table = queryOf(request).get("table") || null;
        return jsonResponse(
          await traced(request, listRejected)(sync, listParametersOf(request), table),
        );
      },
      { detail: REJECTED_DETAIL },
    )
    .get(
      "/api/v1/sync/rejected/:id",
      async ({ request, params }) => {
        await allow(request);
        return jsonResponse(await traced(request, readRejected)(sync, params.id));
      },
      { detail: READ_DETAIL },
    )
    .post(
      "/api/v1/sync/rejected/:id/retry",
      async ({ request, params }) => {
        await allow(request);
        exchangeOf(request).connection.keepOpen();
        return jsonResponse(
          await traced(request, retryRejected)(sync, params.id, activeRuns.stopping),
        );
      },
      { parse: "none", detail: RETRY_DETAIL },
    )
    .delete(
      "/api/v1/sync/rejected/:id",
      async ({ request, params }) => {
        await allow(request);
        await traced(request, dropRejected)(sync, params.id);
        return jsonResponse({ status: "dropped" });
      },
      { parse: "none", detail: DROP_REJECTED_DETAIL },
    );
}

const NOT_FOUND = jsonReply("No rejected record has this id", SyncErrorSchema);

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
    parameters: [idParameterDoc("id", "Id of a rejected record")],
    responses: {
      ...ADMINISTRATOR_FAILURES,
      404: NOT_FOUND,
      200: jsonReply("It was dropped", model("DroppedRecord", { status: Type.Literal("dropped") })),
    },
  },
);

const READ_DETAIL = administratorDetail("readRejectedRecord", "Read a rejected record", {
  description: "Integers beyond 2^53 in the record are strings.",
  parameters: [idParameterDoc("id", "Id of a rejected record")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: NOT_FOUND,
    200: jsonReply("It, with the record", RejectedDetailSchema),
  },
});

const { 413: _tooLarge, ...RETRY_FAILURES } = REMOTE_FAILURES;

const RETRY_DETAIL = administratorDetail("retryRejectedRecord", "Try a rejected record again", {
  description:
    "One that was pulled is written here, one that was pushed is sent to the remote, as a run does it. One that was pulled and is older than the row here is dropped.",
  parameters: [idParameterDoc("id", "Id of a rejected record")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...RETRY_FAILURES,
    404: NOT_FOUND,
    409: jsonReply("A run moves the table in this direction", SyncErrorSchema),
    200: jsonReply("What became of it", RetryResultSchema),
  },
});

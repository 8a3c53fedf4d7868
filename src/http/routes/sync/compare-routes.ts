import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { FromWire } from "../../../domain/shared/wire-names.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import type { CompareRequest } from "../../../usecases/sync/runs/start-comparison.ts";
import { exchangeOf } from "../../exchange.ts";
import { readAdministratorBody } from "../../guards/bearer.ts";
import { jsonReply } from "../../openapi.ts";
import {
  ADMINISTRATOR_FAILURES,
  administratorDetail,
  BODY_FAILURES,
  bodyDoc,
  REMOTE_FAILURES,
} from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { CompareEventSchema } from "../../schemas/run-events.ts";
import { CompareRequestSchema, CompareResultSchema } from "../../schemas/runs.ts";
import { newsStream, STREAM_FAILED, STREAM_TEXT, streamReplyDoc } from "./news-stream.ts";

export interface CompareRouteDeps {
  readonly identity: IdentityDeps;
  readonly activeRuns: ActiveRuns;
  readonly timer: Timer;
}

/** `POST /api/v1/sync/compare` and `/compare-sse`. D-4.10, D-9.5. */
export function compareRoutes({ identity, activeRuns, timer }: CompareRouteDeps) {
  return new Elysia()
    .post(
      "/api/v1/sync/compare",
      async ({ request }) => {
        const wanted = await readAdministratorBody(identity, request, CompareRequestSchema);
        exchangeOf(request).connection.keepOpen();
        const started = activeRuns.compare(compareRequest(wanted, "api"));
        const { result, error } = await started.outcome;
        if (error !== null) throw error;
        return jsonResponse(result);
      },
      { parse: "none", detail: COMPARE_DETAIL },
    )
    .post(
      "/api/v1/sync/compare-sse",
      async ({ request }) => {
        const wanted = await readAdministratorBody(identity, request, CompareRequestSchema);
        const started = activeRuns.compare(compareRequest(wanted, "stream"));
        exchangeOf(request).connection.keepOpen();
        return newsStream(started.news(), started.runId, timer);
      },
      { parse: "none", detail: STREAM_DETAIL },
    );
}

function compareRequest(
  wanted: FromWire<Static<typeof CompareRequestSchema>>,
  trigger: CompareRequest["trigger"],
): CompareRequest {
  const { table, repair = null, delete: deletes = false, maxDeletes = null } = wanted;
  const { force: isForced = false } = wanted;
  return { tableName: table, repair, deletes, maxDeletes, isForced, trigger };
}

const COMPARE_DETAIL = administratorDetail("compareTable", "Compare a table with the remote's", {
  description: "With `repair` the rows that differ are sent or fetched.",
  requestBody: bodyDoc(CompareRequestSchema),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...REMOTE_FAILURES,
    200: jsonReply("What was found", CompareResultSchema),
  },
});

const STREAM_DETAIL = administratorDetail("compareTableStream", "Compare a table and watch it", {
  description: `As without a stream. ${STREAM_TEXT}`,
  requestBody: bodyDoc(CompareRequestSchema),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...BODY_FAILURES,
    500: STREAM_FAILED,
    200: streamReplyDoc("The events; a failure is among them", CompareEventSchema),
  },
});

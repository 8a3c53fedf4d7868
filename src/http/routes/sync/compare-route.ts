import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { FromWire } from "../../../domain/shared/wire-names.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { ActiveRuns } from "../../../usecases/sync/runs/active-runs.ts";
import type { CompareRequest } from "../../../usecases/sync/runs/start-comparison.ts";
import { exchangeOf } from "../../exchange.ts";
import { readAdministratorBody } from "../../guards/bearer.ts";
import { jsonReply } from "../../openapi.ts";
import {
  ADMINISTRATOR_FAILURES,
  administratorDetail,
  bodyDoc,
  REMOTE_FAILURES,
} from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { CompareRequestSchema, CompareResultSchema } from "../../schemas/runs.ts";

export interface CompareRouteDeps {
  readonly identity: IdentityDeps;
  readonly activeRuns: ActiveRuns;
}

/** `POST /api/v1/sync/compare`. D-4.10. */
export function compareRoute({ identity, activeRuns }: CompareRouteDeps) {
  return new Elysia().post(
    "/api/v1/sync/compare",
    async ({ request }) => {
      const wanted = await readAdministratorBody(identity, request, CompareRequestSchema);
      exchangeOf(request).connection.keepOpen();
      const started = activeRuns.compare(compareRequest(wanted));
      const { result, error } = await started.outcome;
      if (error !== null) throw error;
      return jsonResponse(result);
    },
    { parse: "none", detail: COMPARE_DETAIL },
  );
}

function compareRequest(wanted: FromWire<Static<typeof CompareRequestSchema>>): CompareRequest {
  const { table, repair = null, delete: deletes = false, maxDeletes = null } = wanted;
  return { tableName: table, repair, deletes, maxDeletes, trigger: "api" };
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

import { Elysia } from "elysia";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { compareTables } from "../../../usecases/sync/compare/compare-tables.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
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
  readonly sync: SyncDeps;
}

/** `POST /api/v1/sync/compare`. D-4.10. */
export function compareRoute({ identity, sync }: CompareRouteDeps) {
  return new Elysia().post(
    "/api/v1/sync/compare",
    async ({ request }) => {
      const { table, repair = null } = await readAdministratorBody(
        identity,
        request,
        CompareRequestSchema,
      );
      exchangeOf(request).connection.keepOpen();
      return jsonResponse(await compareTables(sync, { tableName: table, repair }));
    },
    { parse: "none", detail: COMPARE_DETAIL },
  );
}

/** `POST /api/v1/sync/compare`. D-4.10. */
const COMPARE_DETAIL = administratorDetail("compareTable", "Compare a table with the remote's", {
  description: "With `repair` the rows that differ are sent or fetched.",
  requestBody: bodyDoc(CompareRequestSchema),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...REMOTE_FAILURES,
    200: jsonReply("What was found", CompareResultSchema),
  },
});

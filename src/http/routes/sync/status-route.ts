import { Elysia } from "elysia";
import { DEPLOYMENT_HEADER, SYNC_EXTENSIONS } from "../../../domain/sync/table/table-schema.ts";
import {
  readSyncStatus,
  type SyncStatusDeps,
} from "../../../usecases/sync/pages/read-sync-status.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { jsonReply } from "../../openapi.ts";
import { UNAVAILABLE, WRONG_METHOD } from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { SyncStatusSchema } from "../../schemas/sync.ts";

export interface StatusRouteDeps extends SyncStatusDeps {
  readonly deploymentId: string;
}

/** `GET /api/v1/sync/status`. S-4.3. */
export function statusRoute(deps: StatusRouteDeps) {
  const headers = { ...EXTENSIONS, [DEPLOYMENT_HEADER]: deps.deploymentId };
  return new Elysia().get(
    "/api/v1/sync/status",
    async ({ request }) => {
      exchangeOf(request).connection.keepOpen();
      return jsonResponse(await traced(request, readSyncStatus)(deps), { headers });
    },
    { detail: STATUS_DETAIL },
  );
}

/** What this service can do beside the document. D-7.2. */
const EXTENSIONS = { "X-Sync-Extensions": SYNC_EXTENSIONS.join(", ") };

const STATUS_DETAIL = {
  operationId: "readSyncStatus",
  tags: ["sync"],
  summary: "Read what is synchronized, row counts and last-sync markers",
  description:
    "Needs no key. Works when sync is disabled; tables, counts and markers are then empty.",
  security: [],
  responses: {
    200: jsonReply("The status", SyncStatusSchema, {
      "X-Sync-Extensions": {
        description: "What this service can do beside the document, separated by commas",
        schema: { type: "string", example: EXTENSIONS["X-Sync-Extensions"] },
      },
      [DEPLOYMENT_HEADER]: {
        description: "The id of this deployment, by which another one knows that it is not itself",
        schema: { type: "string" },
      },
    }),
    405: WRONG_METHOD,
    503: UNAVAILABLE,
  },
};

import { Elysia } from "elysia";
import { DEFAULT_PAGE_ROWS } from "../../../domain/shared/limits.ts";
import { type ListDeletedDeps, listDeleted } from "../../../usecases/sync/pages/list-deleted.ts";
import { requireSyncKey, type SyncKeyGuardDeps } from "../../guards/sync-key.ts";
import { jsonReply, parameterDoc, SYNC_KEY_SECURITY } from "../../openapi.ts";
import {
  PAGE_HEADERS,
  SYNC_KEY_FAILURES,
  tableNameDoc,
  UNAVAILABLE,
  WRONG_METHOD,
} from "../../operation-docs.ts";
import { type PageReplyDeps, pageReply } from "../../replies.ts";
import { queryOf } from "../../routing.ts";
import { DeletedPageSchema, SyncErrorSchema } from "../../schemas/sync.ts";

export interface DeletedRouteDeps extends ListDeletedDeps, PageReplyDeps, SyncKeyGuardDeps {}

/** `GET /api/v1/sync/deleted/{table_name}`. D-7.6. */
export function deletedRoute(deps: DeletedRouteDeps) {
  return new Elysia().get(
    "/api/v1/sync/deleted/:table_name",
    async ({ request, params }) => {
      requireSyncKey(deps, request.headers);
      const query = queryOf(request);
      const page = await listDeleted(deps, params.table_name, {
        since: query.get("since"),
        limit: query.get("limit"),
        cursor: query.get("cursor"),
      });
      return await pageReply(deps, page);
    },
    { detail: deletedDetail(deps) },
  );
}

function deletedDetail(deps: DeletedRouteDeps) {
  return {
    operationId: "listDeleted",
    tags: ["sync"],
    summary: "List the rows of a table that were deleted",
    description:
      "In the order in which the deletes became visible here. Of a table without `deletes` the list is empty, and " +
      "`earliest_available` is now.",
    security: SYNC_KEY_SECURITY,
    parameters: [
      tableNameDoc(deps),
      parameterDoc("query", "since", {
        description:
          "ISO 8601; only deletes that this deployment learned of at or after this time. Ignored when it cannot be parsed.",
        schema: { type: "string" },
      }),
      parameterDoc("query", "limit", {
        description:
          "Page size, capped at SYNC_MAX_BATCH_SIZE; anything but a positive integer is 1000.",
        schema: { type: "integer", default: DEFAULT_PAGE_ROWS },
      }),
      parameterDoc("query", "cursor", {
        description: "`next_cursor` or `cursor` of an earlier reply",
        schema: { type: "string" },
      }),
    ],
    responses: {
      200: jsonReply("The deletes", DeletedPageSchema, PAGE_HEADERS),
      400: jsonReply("Unknown table, or a cursor that was never given", SyncErrorSchema),
      ...SYNC_KEY_FAILURES,
      405: WRONG_METHOD,
      503: UNAVAILABLE,
    },
  };
}

import { DEFAULT_PAGE_ROWS } from "../../../domain/shared/limits.ts";
import { type ListDeletedDeps, listDeleted } from "../../../usecases/sync/pages/list-deleted.ts";
import { parameterDoc } from "../../openapi.ts";
import { DeletedPageSchema } from "../../schemas/sync.ts";
import { type PageRouteDeps, pageRoute } from "./page-route.ts";

export interface DeletedRouteDeps extends ListDeletedDeps, PageRouteDeps {}

/** `GET /api/v1/sync/deleted/{table_name}`. D-7.6. */
export function deletedRoute(deps: DeletedRouteDeps) {
  return pageRoute(deps, "deleted", {
    read: (tableName, query) =>
      listDeleted(deps, tableName, {
        since: query.get("since"),
        limit: query.get("limit"),
        cursor: query.get("cursor"),
      }),
    operationId: "listDeleted",
    summary: "List the rows of a table that were deleted",
    description:
      "In the order in which the deletes became visible here. Of a table without `deletes` the list is empty, and " +
      "`earliest_available` is now.",
    parameters: [
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
    page: ["The deletes", DeletedPageSchema],
    refusal: "Unknown table, or a cursor that was never given",
  });
}

import { DEFAULT_PAGE_ROWS } from "../../../domain/shared/limits.ts";
import { type PullPageDeps, pullPage } from "../../../usecases/sync/pages/pull-page.ts";
import { parameterDoc } from "../../openapi.ts";
import { PullPageSchema } from "../../schemas/sync.ts";
import { type PageRouteDeps, pageRoute } from "./page-route.ts";

export interface PullRouteDeps extends PullPageDeps, PageRouteDeps {}

/** `GET /api/v1/sync/pull/{table_name}`. S-4.1. */
export function pullRoute(deps: PullRouteDeps) {
  return pageRoute(deps, "pull", {
    read: (tableName, query) =>
      pullPage(deps, tableName, {
        since: query.get("since"),
        offset: query.get("offset"),
        limit: query.get("limit"),
      }),
    operationId: "pullPage",
    summary: "Read a page of a table's rows",
    description:
      "Rows in the order of the timestamp column, then the upsert key. A body of 1024 bytes or more is sent with gzip.",
    parameters: [
      parameterDoc("query", "since", {
        description: "ISO 8601; only rows at or after this time. Ignored when it cannot be parsed.",
        schema: { type: "string" },
      }),
      parameterDoc("query", "offset", {
        description: "Rows skipped; anything but an integer is 0, a negative one too.",
        schema: { type: "integer", default: 0 },
      }),
      parameterDoc("query", "limit", {
        description:
          "Page size, capped at SYNC_MAX_BATCH_SIZE; anything but a positive integer is 1000.",
        schema: { type: "integer", default: DEFAULT_PAGE_ROWS },
      }),
    ],
    page: ["The page", PullPageSchema],
    refusal: "Unknown table",
  });
}

import { Elysia } from "elysia";
import { DEFAULT_PAGE_ROWS } from "../../../domain/shared/limits.ts";
import { type PullPageDeps, pullPage } from "../../../usecases/sync/pages/pull-page.ts";
import { requireSyncKey, type SyncKeyGuardDeps } from "../../guards/sync-key.ts";
import { jsonReply, parameterDoc, SYNC_KEY_SECURITY } from "../../openapi.ts";
import {
  PAGE_HEADERS,
  SYNC_KEY_FAILURES,
  tableNameDoc,
  UNAVAILABLE,
  UNKNOWN_TABLE,
  WRONG_METHOD,
} from "../../operation-docs.ts";
import { type PageReplyDeps, pageReply } from "../../replies.ts";
import { queryOf } from "../../routing.ts";
import { PullPageSchema } from "../../schemas/sync.ts";

export interface PullRouteDeps extends PullPageDeps, PageReplyDeps, SyncKeyGuardDeps {}

/** `GET /api/v1/sync/pull/{table_name}`. S-4.1. */
export function pullRoute(deps: PullRouteDeps) {
  return new Elysia().get(
    "/api/v1/sync/pull/:table_name",
    async ({ request, params }) => {
      requireSyncKey(deps, request.headers);
      const query = queryOf(request);
      const page = await pullPage(deps, params.table_name, {
        since: query.get("since"),
        offset: query.get("offset"),
        limit: query.get("limit"),
      });
      return await pageReply(deps, page);
    },
    { detail: pullDetail(deps) },
  );
}

function pullDetail(deps: PullRouteDeps) {
  return {
    operationId: "pullPage",
    tags: ["sync"],
    summary: "Read a page of a table's rows",
    description:
      "Rows in the order of the timestamp column, then the upsert key. A body of 1024 bytes or more is sent with gzip.",
    security: SYNC_KEY_SECURITY,
    parameters: [
      tableNameDoc(deps),
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
    responses: {
      200: jsonReply("The page", PullPageSchema, PAGE_HEADERS),
      400: UNKNOWN_TABLE,
      ...SYNC_KEY_FAILURES,
      405: WRONG_METHOD,
      503: UNAVAILABLE,
    },
  };
}

import { Elysia } from "elysia";
import {
  readTableSchema,
  type TableSchemaDeps,
} from "../../../usecases/sync/pages/read-table-schema.ts";
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
import { TableSchemaSchema } from "../../schemas/sync.ts";

export interface SchemaRouteDeps extends TableSchemaDeps, PageReplyDeps, SyncKeyGuardDeps {}

/** `GET /api/v1/sync/schema/{table_name}`. D-7.3, D-7.4. */
export function schemaRoute(deps: SchemaRouteDeps) {
  return new Elysia().get(
    "/api/v1/sync/schema/:table_name",
    async ({ request, params }) => {
      requireSyncKey(deps, request.headers);
      const lateAfter = queryOf(request).get("late_after");
      return await pageReply(deps, await readTableSchema(deps, params.table_name, lateAfter));
    },
    { detail: schemaDetail(deps) },
  );
}

function schemaDetail(deps: SchemaRouteDeps) {
  return {
    operationId: "readTableSchema",
    tags: ["sync"],
    summary: "Read how a table is registered here, and since when rows came late",
    description:
      "What another deployment of this service compares with its own registry before it moves rows.",
    security: SYNC_KEY_SECURITY,
    parameters: [
      tableNameDoc(deps),
      parameterDoc("query", "late_after", {
        description:
          "`mark` of an earlier reply: `from` then tells the earliest time of what came late since.",
        schema: { type: "string" },
      }),
    ],
    responses: {
      200: jsonReply("The table", TableSchemaSchema, PAGE_HEADERS),
      400: UNKNOWN_TABLE,
      ...SYNC_KEY_FAILURES,
      405: WRONG_METHOD,
      503: UNAVAILABLE,
    },
  };
}

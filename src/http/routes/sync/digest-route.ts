import { Elysia } from "elysia";
import { MAX_SEGMENT_ROWS } from "../../../domain/sync/digest/digest-page.ts";
import { type DigestTableDeps, digestTable } from "../../../usecases/sync/pages/digest-table.ts";
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
import { DigestPageSchema } from "../../schemas/runs.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";

export interface DigestRouteDeps extends DigestTableDeps, PageReplyDeps, SyncKeyGuardDeps {}

/** `GET /api/v1/sync/digest/{table_name}`. D-4.10. */
export function digestRoute(deps: DigestRouteDeps) {
  return new Elysia().get(
    "/api/v1/sync/digest/:table_name",
    async ({ request, params }) => {
      requireSyncKey(deps, request.headers);
      const query = queryOf(request);
      const page = await digestTable(deps, params.table_name, {
        after: query.get("after"),
        through: query.get("through"),
        segmentRows: query.get("segment_rows"),
        records: query.get("records"),
      });
      return await pageReply(deps, page);
    },
    { detail: digestDetail(deps) },
  );
}

function digestDetail(deps: DigestRouteDeps) {
  return {
    operationId: "readDigest",
    tags: ["sync"],
    summary: "Read digests of a table by ranges of its key",
    description:
      "How two deployments of this service prove tables equal without moving their rows.",
    security: SYNC_KEY_SECURITY,
    parameters: [
      tableNameDoc(deps),
      keyParameter("after", "Only rows behind this key"),
      keyParameter("through", "Only rows up to this key"),
      parameterDoc("query", "segment_rows", {
        description: "Rows of one segment",
        schema: { type: "integer", minimum: 1, maximum: MAX_SEGMENT_ROWS, default: 4096 },
      }),
      parameterDoc("query", "records", {
        description: "`true` for the rows themselves, as many as one reply may bring",
        schema: { type: "string" },
      }),
    ],
    responses: {
      200: jsonReply("The digests", DigestPageSchema, PAGE_HEADERS),
      400: jsonReply("Unknown table, or a bad parameter", SyncErrorSchema),
      ...SYNC_KEY_FAILURES,
      405: WRONG_METHOD,
      503: UNAVAILABLE,
    },
  };
}

function keyParameter(name: string, text: string) {
  const description = `${text}: a JSON array of the values of the key columns`;
  return parameterDoc("query", name, {
    description,
    schema: { type: "string", pattern: "^\\s*\\[" },
  });
}

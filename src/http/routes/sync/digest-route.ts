import { MAX_SEGMENT_ROWS } from "../../../domain/sync/digest/digest-page.ts";
import { type DigestTableDeps, digestTable } from "../../../usecases/sync/pages/digest-table.ts";
import { parameterDoc } from "../../openapi.ts";
import { DigestPageSchema } from "../../schemas/runs.ts";
import { type PageRouteDeps, pageRoute } from "./page-route.ts";

export interface DigestRouteDeps extends DigestTableDeps, PageRouteDeps {}

/** `GET /api/v1/sync/digest/{table_name}`. D-4.10. */
export function digestRoute(deps: DigestRouteDeps) {
  return pageRoute(deps, "digest", {
    read: (tableName, query) =>
      digestTable(deps, tableName, {
        after: query.get("after"),
        through: query.get("through"),
        segmentRows: query.get("segment_rows"),
        records: query.get("records"),
      }),
    operationId: "readDigest",
    summary: "Read digests of a table by ranges of its key",
    description:
      "How two deployments of this service prove tables equal without moving their rows.",
    parameters: [
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
    page: ["The digests", DigestPageSchema],
    refusal: "Unknown table, or a bad parameter",
  });
}

function keyParameter(name: string, text: string) {
  const description = `${text}: a JSON array of the values of the key columns`;
  return parameterDoc("query", name, {
    description,
    schema: { type: "string", pattern: "^\\s*\\[" },
  });
}

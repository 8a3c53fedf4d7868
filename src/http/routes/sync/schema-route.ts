import {
  readTableSchema,
  type TableSchemaDeps,
} from "../../../usecases/sync/pages/read-table-schema.ts";
import { parameterDoc } from "../../openapi.ts";
import { TableSchemaSchema } from "../../schemas/sync.ts";
import { type PageRouteDeps, pageRoute } from "./page-route.ts";

export interface SchemaRouteDeps extends TableSchemaDeps, PageRouteDeps {}

/** `GET /api/v1/sync/schema/{table_name}`. D-7.3, D-7.4. */
export function schemaRoute(deps: SchemaRouteDeps) {
  return pageRoute(deps, "schema", {
    read: (tableName, query) => readTableSchema(deps, tableName, query.get("late_after")),
    operationId: "readTableSchema",
    summary: "Read how a table is registered here, and since when rows came late",
    description:
      "What another deployment of this service compares with its own registry before it moves rows.",
    parameters: [
      parameterDoc("query", "late_after", {
        description:
          "`mark` of an earlier reply: `from` then tells the earliest time of what came late since.",
        schema: { type: "string" },
      }),
    ],
    page: ["The table", TableSchemaSchema],
    refusal: "Unknown table",
  });
}

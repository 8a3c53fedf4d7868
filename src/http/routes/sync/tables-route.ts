import { Elysia } from "elysia";
import { listTables } from "../../../usecases/sync/pages/list-tables.ts";
import { traced } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { jsonReply } from "../../openapi.ts";
import { ADMINISTRATOR_FAILURES, administratorDetail } from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import { TableListSchema } from "../../schemas/overview.ts";
import type { RowsRouteDeps } from "./rows-route.ts";

/** `GET /api/v1/sync/tables`, with sync disabled too. D-9.5. */
export function tablesRoute({ identity, sync }: RowsRouteDeps) {
  return new Elysia().get(
    "/api/v1/sync/tables",
    async ({ request }) => {
      await requireAdministrator(identity, request);
      return jsonResponse(await traced(request, listTables)(sync));
    },
    { detail: TABLES_DETAIL },
  );
}

const TABLES_DETAIL = administratorDetail("listTables", "List the tables with their columns", {
  responses: {
    ...ADMINISTRATOR_FAILURES,
    200: jsonReply("In the order of the registry", TableListSchema),
  },
});

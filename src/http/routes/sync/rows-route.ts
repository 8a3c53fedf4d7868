import { Elysia } from "elysia";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { listRows } from "../../../usecases/sync/pages/list-rows.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { traced } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { jsonReply, parameterDoc } from "../../openapi.ts";
import {
  ADMINISTRATOR_FAILURES,
  administratorDetail,
  LIST_PARAMETERS,
  tableNameDoc,
} from "../../operation-docs.ts";
import { rowsResponse } from "../../replies.ts";
import { queryOf } from "../../routing.ts";
import { RowListSchema, SyncErrorSchema } from "../../schemas/sync.ts";

export interface RowsRouteDeps {
  readonly identity: IdentityDeps;
  readonly sync: SyncDeps;
}

/** `GET /api/v1/sync/rows/{table_name}`, with sync disabled too. D-9.5. */
export function rowsRoute({ identity, sync }: RowsRouteDeps) {
  return new Elysia().get(
    "/api/v1/sync/rows/:table_name",
    async ({ request, params }) => {
      await requireAdministrator(identity, request);
      const query = queryOf(request);
      const list = await traced(request, listRows)(sync, params.table_name, {
        limit: query.get("limit"),
        cursor: query.get("cursor"),
        since: query.get("since"),
        key: query.get("key"),
      });
      return rowsResponse(list);
    },
    { detail: rowsDetail(sync) },
  );
}

function rowsDetail(sync: SyncDeps) {
  return administratorDetail("listRows", "List the rows of a table", {
    description:
      "In the order of the table. Integers beyond 2^53 are strings; columns that are not serialized are left out.",
    parameters: [
      tableNameDoc(sync),
      ...LIST_PARAMETERS,
      parameterDoc("query", "since", {
        description: "Only rows whose timestamp is at or after this time",
        schema: { type: "string", format: "date-time" },
      }),
      parameterDoc("query", "key", {
        description:
          "Only the row with this key: the text of a key of one column, or a JSON object with every part",
        schema: { type: "string" },
      }),
    ],
    responses: {
      ...ADMINISTRATOR_FAILURES,
      400: jsonReply("Unknown table, or a bad limit, cursor, since or key", SyncErrorSchema),
      200: jsonReply("A part of the rows", RowListSchema),
    },
  });
}

import { Elysia } from "elysia";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { compareTables } from "../../../usecases/sync/compare/compare-tables.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { exchangeOf } from "../../exchange.ts";
import { readAdministratorBody } from "../../guards/bearer.ts";
import { jsonResponse } from "../../replies.ts";
import { CompareRequest } from "../../schemas/runs.ts";
import { COMPARE_DETAIL } from "./run-docs.ts";

/** What comparing needs. */
export interface CompareRouteDeps {
  readonly identity: IdentityDeps;
  readonly sync: SyncDeps;
}

/** `POST /api/v1/sync/compare`. D-4.10. */
export function compareRoute({ identity, sync }: CompareRouteDeps) {
  return new Elysia().post(
    "/api/v1/sync/compare",
    async ({ request }) => {
      const { table, repair = null } = await readAdministratorBody(
        identity,
        request,
        CompareRequest,
      );
      exchangeOf(request).connection.keepOpen();
      return jsonResponse(await compareTables(sync, { tableName: table, repair }));
    },
    { parse: "none", detail: COMPARE_DETAIL },
  );
}

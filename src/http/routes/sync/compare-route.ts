import { Elysia } from "elysia";
import { readCompareBody } from "../../../domain/sync/run/trigger-body.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { compareTables } from "../../../usecases/sync/compare/compare-tables.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { exchangeOf } from "../../exchange.ts";
import { requireAdministrator, requireThenRead } from "../../guards/bearer.ts";
import { jsonResponse } from "../../json-response.ts";
import { readObjectBody } from "../../object-body.ts";
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
      const { body: fields } = await requireThenRead(
        () => requireAdministrator(identity, request.headers),
        () => readObjectBody(request),
      );
      const body = readCompareBody(fields);
      exchangeOf(request).connection.keepOpen();
      return jsonResponse(await compareTables(sync, body));
    },
    { parse: "none", detail: COMPARE_DETAIL },
  );
}

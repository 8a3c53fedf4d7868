import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Registry } from "../../../domain/sync/table/table.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { requireSyncKey, type SyncKeyGuardDeps } from "../../guards/sync-key.ts";
import { jsonReply, type parameterDoc, SYNC_KEY_SECURITY } from "../../openapi.ts";
import {
  PAGE_HEADERS,
  SYNC_KEY_FAILURES,
  tableNameDoc,
  UNAVAILABLE,
  WRONG_METHOD,
} from "../../operation-docs.ts";
import { type PageReplyDeps, pageReply } from "../../replies.ts";
import { queryOf } from "../../routing.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";

export interface PageRouteDeps extends PageReplyDeps, SyncKeyGuardDeps {
  readonly registry: Registry;
}

/** What is read of a table, and how the document describes it. */
interface TablePart {
  readonly read: (tableName: string, query: URLSearchParams) => Promise<object>;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Of the query. */
  readonly parameters: readonly ReturnType<typeof parameterDoc>[];
  /** The replies with status 200 and 400. */
  readonly page: readonly [description: string, schema: TSchema];
  readonly refusal: string;
}

/** `GET /api/v1/sync/{name}/{table_name}`: a part of a table, for whoever has the sync key. */
export function pageRoute(deps: PageRouteDeps, name: string, part: TablePart) {
  const { read, parameters, page, refusal, ...texts } = part;
  const detail = {
    ...texts,
    tags: ["sync"],
    security: SYNC_KEY_SECURITY,
    parameters: [tableNameDoc(deps), ...parameters],
    responses: {
      200: jsonReply(...page, PAGE_HEADERS),
      400: jsonReply(refusal, SyncErrorSchema),
      ...SYNC_KEY_FAILURES,
      405: WRONG_METHOD,
      503: UNAVAILABLE,
    },
  };
  return new Elysia().get(
    `/api/v1/sync/${name}/:table_name`,
    async ({ request, params }) => {
      requireSyncKey(deps, request.headers);
      exchangeOf(request).connection.keepOpen();
      return await pageReply(
        deps,
        await traced(request, read, part.operationId)(params.table_name, queryOf(request)),
      );
    },
    { detail },
  );
}

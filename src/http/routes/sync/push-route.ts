import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Registry } from "../../../domain/sync/table/table.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { type CountDeletesDeps, countDeletes } from "../../../usecases/sync/pages/plan-deletes.ts";
import { type PushRecordsDeps, pushRecords } from "../../../usecases/sync/pages/push-records.ts";
import {
  type ReadPushBodyDeps,
  readPushBody,
} from "../../../usecases/sync/pages/read-push-body.ts";
import { readRequestBody } from "../../bodies.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { requireSyncKey, type SyncKeyGuardDeps } from "../../guards/sync-key.ts";
import { jsonReply, jsonRequest, parameterDoc, SYNC_KEY_SECURITY } from "../../openapi.ts";
import {
  SYNC_KEY_FAILURES,
  tableNameDoc,
  UNAVAILABLE,
  WRONG_METHOD,
} from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import {
  CommitFailedSchema,
  IntegrityErrorSchema,
  NoRecordsSchema,
  PushRequestSchema,
  PushResultSchema,
  SyncErrorSchema,
} from "../../schemas/sync.ts";

export interface PushRouteDeps
  extends PushRecordsDeps,
    CountDeletesDeps,
    ReadPushBodyDeps,
    SyncKeyGuardDeps {
  readonly registry: Registry;
  readonly maxBodyBytes: number;
}

const TOO_MANY_RECORDS = "; send fewer records at a time";

/** `POST /api/v1/sync/push/{table_name}`. S-4.2, D-7.2, D-7.6. */
export function pushRoute(deps: PushRouteDeps) {
  return new Elysia().post(
    "/api/v1/sync/push/:table_name",
    async ({ request, params }) => {
      requireSyncKey(deps, request.headers);
      const table = findTable(deps.registry, params.table_name);
      const conflict = readSwitch(request.headers, "X-Sync-Conflict", ["newer", "overwrite"]);
      const isDryRun = readSwitch(request.headers, "X-Sync-Dry-Run", ["deletes"]) !== null;
      const bytes = await readRequestBody(request, deps.maxBodyBytes, TOO_MANY_RECORDS);
      exchangeOf(request).connection.keepOpen();
      const isGzip = /gzip/i.test(request.headers.get("content-encoding") ?? "");
      const checksum = request.headers.get("x-content-sha256") || null;
      const body = await traced(request, readPushBody)(deps, { bytes, isGzip, checksum });
      if (isDryRun)
        return jsonResponse(await traced(request, countDeletes)(deps, { table, ...body }));
      const { isCommitted, result } = await traced(request, pushRecords)(deps, {
        table,
        isGuarded: conflict === "newer",
        isForced: conflict === "overwrite",
        ...body,
      });
      return jsonResponse(result, { status: isCommitted ? 200 : 500 });
    },
    { parse: "none", detail: pushDetail(deps) },
  );
}

/**
 * One of the values of a header, in any case; null for an absent or empty one. Any other is refused: who sends it wants
 * something that would not be done. Throws `invalid_request`.
 */
function readSwitch(headers: Headers, name: string, values: readonly string[]): string | null {
  const value = (headers.get(name) ?? "").toLowerCase();
  if (value === "" || values.includes(value)) return value || null;
  const texts = values.map((text) => `"${text}"`);
  throw new AppError("invalid_request", `${name} must be ${texts.join(", ")} or absent`);
}

function pushDetail(deps: PushRouteDeps) {
  return {
    operationId: "pushRecords",
    tags: ["sync"],
    summary: "Insert or update rows of a table",
    description:
      "Upserts every record in one commit, after the deletes of a table with `deletes`. A record that fails is listed " +
      "and stops no other. The body may be gzip.",
    security: SYNC_KEY_SECURITY,
    parameters: [
      tableNameDoc(deps),
      parameterDoc("header", "Content-Encoding", {
        description: "A body is decompressed when this contains gzip, in any case.",
        schema: { type: "string" },
      }),
      parameterDoc("header", "X-Content-SHA256", {
        description: "Hexadecimal SHA-256 of the uncompressed body; verified for gzip bodies.",
        schema: { type: "string" },
      }),
      parameterDoc("header", "X-Sync-Conflict", {
        description:
          "`newer`: rows that are newer here stay as they are; the result adds `kept` and `changed`. `overwrite`: they are overwritten, also where the table keeps them.",
        schema: { type: "string", enum: ["newer", "overwrite"] },
      }),
      parameterDoc("header", "X-Sync-Dry-Run", {
        description:
          "`deletes`: nothing is written and records are ignored; `deleted` tells how many rows would be removed.",
        schema: { type: "string", enum: ["deletes"] },
      }),
    ],
    requestBody: jsonRequest(PushRequestSchema),
    responses: {
      200: jsonReply("The push result", Type.Union([PushResultSchema, NoRecordsSchema])),
      ...SYNC_KEY_FAILURES,
      400: jsonReply(
        "Unknown table, or a header or body that is not what the document says",
        SyncErrorSchema,
      ),
      405: WRONG_METHOD,
      413: jsonReply(
        "Body too large, as sent or after decompression; too many records or values; or too much for one commit",
        SyncErrorSchema,
      ),
      422: jsonReply(
        "Damaged gzip, checksum mismatch, or invalid JSON inside gzip",
        IntegrityErrorSchema,
      ),
      500: jsonReply(
        "Nothing was committed, no sync key is configured, or an internal error",
        Type.Union([CommitFailedSchema, SyncErrorSchema]),
      ),
      503: UNAVAILABLE,
    },
  };
}

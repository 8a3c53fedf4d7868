import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Registry } from "../../../domain/sync/table/table.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { type PushRecordsDeps, pushRecords } from "../../../usecases/sync/pages/push-records.ts";
import {
  type ReadPushBodyDeps,
  readPushBody,
} from "../../../usecases/sync/pages/read-push-body.ts";
import { readRequestBody } from "../../bodies.ts";
import { requireSyncKey, type SyncKeyGuardDeps } from "../../guards/sync-key.ts";
import { jsonReply, jsonRequest, parameterDoc, SYNC_KEY_SECURITY } from "../../openapi.ts";
import { SYNC_KEY_FAILURES, tableNameDoc, WRONG_METHOD } from "../../operation-docs.ts";
import { jsonResponse } from "../../replies.ts";
import {
  CommitFailedSchema,
  IntegrityErrorSchema,
  NoRecordsSchema,
  PushRequestSchema,
  PushResultSchema,
  SyncErrorSchema,
} from "../../schemas/sync.ts";

export interface PushRouteDeps extends PushRecordsDeps, ReadPushBodyDeps, SyncKeyGuardDeps {
  readonly registry: Registry;
  readonly maxBodyBytes: number;
}

const TOO_MANY_RECORDS = "; send fewer records at a time";

/** `POST /api/v1/sync/push/{table_name}`. S-4.2. */
export function pushRoute(deps: PushRouteDeps) {
  return new Elysia().post(
    "/api/v1/sync/push/:table_name",
    async ({ request, params }) => {
      requireSyncKey(deps, request.headers);
      const table = findTable(deps.registry, params.table_name);
      const bytes = await readRequestBody(request, deps.maxBodyBytes, TOO_MANY_RECORDS);
      const isGzip = /gzip/i.test(request.headers.get("content-encoding") ?? "");
      const checksum = request.headers.get("x-content-sha256") || null;
      const body = await readPushBody(deps, { bytes, isGzip, checksum });
      const { isCommitted, result } = await pushRecords(deps, { table, ...body });
      return jsonResponse(result, { status: isCommitted ? 200 : 500 });
    },
    { parse: "none", detail: pushDetail(deps) },
  );
}

function pushDetail(deps: PushRouteDeps) {
  return {
    operationId: "pushRecords",
    tags: ["sync"],
    summary: "Insert or update rows of a table",
    description:
      "Upserts every record in one commit. A record that fails is listed and stops no other. The body may be gzip.",
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
    ],
    requestBody: jsonRequest(PushRequestSchema),
    responses: {
      200: jsonReply("The push result", Type.Union([PushResultSchema, NoRecordsSchema])),
      ...SYNC_KEY_FAILURES,
      400: jsonReply(
        "Unknown table, or a body that is not what the document says",
        SyncErrorSchema,
      ),
      405: WRONG_METHOD,
      413: jsonReply("Body too large, as sent or after decompression", SyncErrorSchema),
      422: jsonReply(
        "Damaged gzip, checksum mismatch, or invalid JSON inside gzip",
        IntegrityErrorSchema,
      ),
      500: jsonReply(
        "Nothing was committed, no sync key is configured, or an internal error",
        Type.Union([CommitFailedSchema, SyncErrorSchema]),
      ),
    },
  };
}

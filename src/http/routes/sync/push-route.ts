import { Type } from "@sinclair/typebox";
import { ERROR_KINDS } from "../../../domain/shared/error-kinds.ts";
import type { PushResult } from "../../../domain/sync/rows/push-result.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import { requireColumns } from "../../../domain/sync/table/table-schema.ts";
import { countDeletes } from "../../../usecases/sync/pages/plan-deletes.ts";
import { pushRecords } from "../../../usecases/sync/pages/push-records.ts";
import { readPushBody } from "../../../usecases/sync/pages/read-push-body.ts";
import { Answer, type Guard } from "../../description.ts";
import { syncKey } from "../../guards/sync-key.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { given, oneOf, tableName } from "../../schemas/parts.ts";
import {
  CommitFailedSchema,
  IntegrityErrorSchema,
  NoRecordsSchema,
  PushRequestSchema,
  PushResultSchema,
  SyncErrorSchema,
} from "../../schemas/sync.ts";
import { COLUMNS_PARAMETER, type ServedSync } from "./page-routes.ts";

/** `POST /api/v1/sync/push/{table_name}`. S-4.2, D-7.2, D-7.6. */
export function pushRoute(deps: ServedSync): Operation {
  return operation({
    at: "POST /api/v1/sync/push/:table_name",
    id: "pushRecords",
    summary: "Insert or update rows of a table",
    description:
      "Upserts every record in one commit, after the deletes of a table with `deletes`. A record that fails is listed " +
      "and stops no other. The body may be gzip.",
    guard: withTable(deps),
    params: { table_name: tableName(deps) },
    headers: PUSH_HEADERS,
    body: {
      shown: PushRequestSchema,
      maxBytes: deps.maxBodyBytes,
      hint: ERROR_KINDS.batch_too_large.hint,
    },
    replies: PUSH_REPLIES,
    isSlow: true,
    run: async ({ caller: table, headers, body: bytes }) => {
      const isGzip = /gzip/i.test(headers["Content-Encoding"] ?? "");
      const checksum = headers["X-Content-SHA256"] || null;
      const body = await readPushBody(deps, { bytes, isGzip, checksum });
      if (headers["X-Sync-Dry-Run"] !== null) return await countDeletes(deps, { table, ...body });
      const conflict = headers["X-Sync-Conflict"];
      const isGuarded = conflict === "newer";
      const sender = {
        isGuarded,
        isForced: conflict === "overwrite",
        runId: headers["X-Sync-Run"],
      };
      const { isCommitted, result } = await pushRecords(deps, { table, ...sender, ...body });
      return isCommitted ? result : new Answer(500, result);
    },
  });
}

/** As the sync key; an unknown table, and other columns, are refused before rows are read. S-4.2.1, D-7.3. */
function withTable(deps: ServedSync): Guard<Table> {
  const { security, failures, admit } = syncKey(deps);
  return {
    security,
    failures,
    async admit(exchange, path) {
      await admit(exchange, path);
      const table = findTable(deps.registry, path["table_name"] ?? "");
      requireColumns(table, exchange.headers.get("X-Sync-Columns"));
      return { caller: table };
    },
  };
}

const PUSH_HEADERS = {
  "Content-Encoding": given("A body is decompressed when this contains gzip, in any case."),
  "X-Content-SHA256": given(
    "Hexadecimal SHA-256 of the uncompressed body; verified for gzip bodies.",
  ),
  "X-Sync-Conflict": oneOf(["newer", "overwrite"], {
    description:
      "`newer`: rows that are newer here stay as they are; the result adds `kept` and `changed`. `overwrite`: they are overwritten, also where the table keeps them; the result adds `changed`.",
  }),
  "X-Sync-Run": given("Id of the run that sends the rows: it stamps none of them."),
  "X-Sync-Columns": COLUMNS_PARAMETER,
  "X-Sync-Dry-Run": oneOf(["deletes"], {
    description:
      "`deletes`: nothing is written and records are ignored; `deleted` tells how many rows would be removed.",
  }),
};

const PUSH_REPLIES = {
  200: json(
    "The push result",
    Type.Unsafe<PushResult>(Type.Union([PushResultSchema, NoRecordsSchema])),
  ),
  400: "Unknown table, or a header or body that is not what the document says",
  413: "Body too large, as sent or after decompression; too many records or values; or too much for one commit",
  422: {
    text: "Damaged gzip, checksum mismatch, or invalid JSON inside gzip",
    schema: IntegrityErrorSchema,
  },
  500: json(
    "Nothing was committed, no sync key is configured, or an internal error",
    Type.Unsafe<PushResult>(Type.Union([CommitFailedSchema, SyncErrorSchema])),
  ),
} as const;

// The operations for other deployments: rows, digests, the schema, deletes, pushes, the status. S-4.1 to S-4.3, D-4.10, D-7.2,
// D-7.3, D-7.6.
import { Type } from "@sinclair/typebox";
import { ERROR_KINDS } from "../../../domain/shared/error-kinds.ts";
import { COMPRESSION_THRESHOLD_BYTES, DEFAULT_PAGE_ROWS } from "../../../domain/shared/limits.ts";
import { MAX_SEGMENT_ROWS } from "../../../domain/sync/digest/digest-page.ts";
import type { PushResult } from "../../../domain/sync/rows/push-result.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import {
  DEPLOYMENT_HEADER,
  requireColumns,
  SYNC_EXTENSIONS,
} from "../../../domain/sync/table/table-schema.ts";
import { SharedWork } from "../../../ports/runtime/turns.ts";
import {
  countDeletes,
  pushRecords,
  type ReadPushBodyDeps,
  readPushBody,
} from "../../../usecases/sync/pages/push-records.ts";
import { digestTable, listDeleted, pullPage } from "../../../usecases/sync/pages/table-pages.ts";
import { readOwnSchema, type TableSchemaDeps } from "../../../usecases/sync/pages/table-schemas.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { readSyncStatus } from "../../../usecases/sync/shared/sync-status.ts";
import { Answer, EVERYBODY, type Guard, headerDoc } from "../../description.ts";
import { type SyncKeyGuardDeps, syncKey } from "../../guards/secrets.ts";
import { type Operation, operation } from "../../operation.ts";
import { json, page } from "../../replies.ts";
import { given, oneOf, tableName } from "../../schemas/parts.ts";
import { DigestPageSchema } from "../../schemas/runs.ts";
import {
  CommitFailedSchema,
  DeletedPageSchema,
  IntegrityErrorSchema,
  NoRecordsSchema,
  PullPageSchema,
  PushRequestSchema,
  PushResultSchema,
  SyncErrorSchema,
  SyncStatusSchema,
  TableSchemaSchema,
} from "../../schemas/sync.ts";

export interface ServedSync extends SyncDeps, TableSchemaDeps, ReadPushBodyDeps, SyncKeyGuardDeps {
  readonly deploymentId: string;
  readonly maxBodyBytes: number;
}

export function pageRoutes(deps: ServedSync): Operation[] {
  return [...rows(deps), ...comparing(deps), pushRoute(deps), statusRoute(deps)];
}

const PAGE_LIMIT = given(
  `Page size, capped at SYNC_MAX_BATCH_SIZE; anything but a positive integer is ${DEFAULT_PAGE_ROWS}.`,
  { type: "integer", default: DEFAULT_PAGE_ROWS },
);

const COLUMNS_PARAMETER = given(
  "Stands for the columns that this deployment has told the run: an instance that has others answers 503.",
);

function keyParameter(text: string) {
  const description = `${text}: a JSON array of the values of the key columns`;
  return given(description, { pattern: "^\\s*\\[" });
}

function rows(deps: ServedSync): Operation[] {
  return [
    operation({
      at: "GET /api/v1/sync/pull/:table_name",
      id: "pullPage",
      summary: "Read a page of a table's rows",
      description: `Rows in the order of the timestamp column, then the upsert key. A body of ${COMPRESSION_THRESHOLD_BYTES} bytes or more is sent with gzip.`,
      guard: syncKey(deps),
      params: { table_name: tableName(deps) },
      query: {
        since: given(
          "ISO 8601; only rows at or after this time. Ignored when it cannot be parsed.",
        ),
        offset: given("Rows skipped; anything but an integer is 0, a negative one too.", {
          type: "integer",
          default: 0,
        }),
        limit: PAGE_LIMIT,
      },
      headers: { "X-Sync-Columns": COLUMNS_PARAMETER },
      replies: { 200: page("The page", PullPageSchema), 400: "Unknown or unused table" },
      isSlow: true,
      run: ({ params, query, headers }) =>
        pullPage(deps, params.tableName, { ...query, columns: headers["X-Sync-Columns"] }),
    }),
    operation({
      at: "GET /api/v1/sync/deleted/:table_name",
      id: "listDeleted",
      summary: "List the rows of a table that were deleted",
      description:
        "In the order in which the deletes became visible here. Of a table without `deletes` the list is empty, and " +
        "`earliest_available` is now.",
      guard: syncKey(deps),
      params: { table_name: tableName(deps) },
      query: {
        since: given(
          "ISO 8601; only deletes that this deployment learned of at or after this time. Ignored when it cannot be parsed.",
        ),
        limit: PAGE_LIMIT,
        cursor: given("`next_cursor` or `cursor` of an earlier reply"),
      },
      replies: {
        200: page("The deletes", DeletedPageSchema),
        400: "Unknown or unused table, or a cursor that was never given",
      },
      isSlow: true,
      run: ({ params, query }) => listDeleted(deps, params.tableName, query),
    }),
  ];
}

function comparing(deps: ServedSync): Operation[] {
  return [
    operation({
      at: "GET /api/v1/sync/digest/:table_name",
      id: "readDigest",
      summary: "Read digests of a table by ranges of its key",
      description:
        "How two deployments of this service prove tables equal without moving their rows.",
      guard: syncKey(deps),
      params: { table_name: tableName(deps) },
      query: {
        after: keyParameter("Only rows behind this key"),
        through: keyParameter("Only rows up to this key"),
        segment_rows: given("Rows of one segment", {
          type: "integer",
          minimum: 1,
          maximum: MAX_SEGMENT_ROWS,
          default: 4096,
        }),
        records: given("`true` for the rows themselves, as many as one reply may bring"),
      },
      replies: {
        200: page("The digests", DigestPageSchema),
        400: "Unknown or unused table, or a bad parameter",
      },
      isSlow: true,
      run: ({ params, query }) => digestTable(deps, params.tableName, query),
    }),
    operation({
      at: "GET /api/v1/sync/schema/:table_name",
      id: "readTableSchema",
      summary: "Read how a table is registered here, and since when rows came late",
      description:
        "What another deployment of this service compares with its own registry before it moves rows.",
      guard: syncKey(deps),
      params: { table_name: tableName(deps) },
      query: {
        late_after: given(
          "`mark` of an earlier reply: `from` then tells the earliest time of what came late since.",
        ),
      },
      replies: { 200: page("The table", TableSchemaSchema), 400: "Unknown or unused table" },
      isSlow: true,
      run: ({ params, query }) => readOwnSchema(deps, params.tableName, query.lateAfter),
    }),
  ];
}

const EXTENSIONS = SYNC_EXTENSIONS.join(", ");

function statusRoute(deps: ServedSync): Operation {
  const headers = { "X-Sync-Extensions": EXTENSIONS, [DEPLOYMENT_HEADER]: deps.deploymentId };
  // Shared, as strangers may ask, and counting a large table takes long.
  const status = new SharedWork(() => readSyncStatus(deps));
  return operation({
    at: "GET /api/v1/sync/status",
    id: "readSyncStatus",
    summary: "Read what is synchronized, row counts and last-sync markers",
    description:
      "Needs no key. Works when sync is disabled; tables, counts and markers are then empty.",
    guard: EVERYBODY,
    replies: { 200: json("The status", SyncStatusSchema, HEADER_DOCS) },
    isSlow: true,
    run: async () => new Answer(200, await status.outcome(), headers),
  });
}

const HEADER_DOCS = {
  "X-Sync-Extensions": headerDoc(
    "What this service can do beside the document, separated by commas",
    { type: "string", example: EXTENSIONS },
  ),
  [DEPLOYMENT_HEADER]: headerDoc(
    "The id of this deployment, by which another one knows that it is not itself",
  ),
};

function pushRoute(deps: ServedSync): Operation {
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
      const conflict = headers["X-Sync-Conflict"] ?? body.conflict;
      const input = { table, ...body, conflict, runId: headers["X-Sync-Run"] };
      const { isCommitted, result } = await pushRecords(deps, input);
      return isCommitted ? result : new Answer(500, result);
    },
  });
}

/** As the sync key; refuses an unknown table, and other columns, before the body is read. S-4.2.1, D-7.3. */
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
      "`newer`: rows that are newer here stay as they are; the result adds `kept` and `changed`. `overwrite`: they are overwritten, also where the table keeps them, and tombstones of the rows are forgotten; the result adds `changed`.",
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
  400: "Unknown or unused table, or a header or body that is not what the document says",
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

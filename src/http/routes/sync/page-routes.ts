// Parts of a table for whoever has the sync key: rows, digests, the schema, deletes. S-4.1, D-4.10, D-7.3, D-7.6.
import { COMPRESSION_THRESHOLD_BYTES, DEFAULT_PAGE_ROWS } from "../../../domain/shared/limits.ts";
import { MAX_SEGMENT_ROWS } from "../../../domain/sync/digest/digest-page.ts";
import { DEPLOYMENT_HEADER, SYNC_EXTENSIONS } from "../../../domain/sync/table/table-schema.ts";
import { SharedWork } from "../../../ports/runtime/shared-work.ts";
import { digestTable } from "../../../usecases/sync/pages/digest-table.ts";
import { readTableSchema, type TableSchemaDeps } from "../../../usecases/sync/pages/list-tables.ts";
import { listDeleted, pullPage } from "../../../usecases/sync/pages/pull-page.ts";
import type { ReadPushBodyDeps } from "../../../usecases/sync/pages/read-push-body.ts";
import { readSyncStatus } from "../../../usecases/sync/pages/read-sync-status.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import { Answer, EVERYBODY } from "../../description.ts";
import { headerDoc } from "../../document-parts.ts";
import { type SyncKeyGuardDeps, syncKey } from "../../guards/sync-key.ts";
import { type Operation, operation } from "../../operation.ts";
import { json, page } from "../../replies.ts";
import { given, tableName } from "../../schemas/parts.ts";
import { DigestPageSchema } from "../../schemas/runs.ts";
import {
  DeletedPageSchema,
  PullPageSchema,
  SyncStatusSchema,
  TableSchemaSchema,
} from "../../schemas/sync.ts";

/** The dependencies of answers to other deployments, which have the sync key. */
export interface ServedSync extends SyncDeps, TableSchemaDeps, ReadPushBodyDeps, SyncKeyGuardDeps {
  readonly deploymentId: string;
  readonly maxBodyBytes: number;
}

export function pageRoutes(deps: ServedSync): Operation[] {
  return [...rows(deps), ...comparing(deps)];
}

const PAGE_LIMIT = given(
  `Page size, capped at SYNC_MAX_BATCH_SIZE; anything but a positive integer is ${DEFAULT_PAGE_ROWS}.`,
  { type: "integer", default: DEFAULT_PAGE_ROWS },
);

export const COLUMNS_PARAMETER = given(
  "Stands for the columns that this deployment has told the run: an instance that has others answers 503.",
);

function keyParameter(text: string) {
  const description = `${text}: a JSON array of the values of the key columns`;
  return given(description, { type: "string", pattern: "^\\s*\\[" });
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
      replies: { 200: page("The page", PullPageSchema), 400: "Unknown table" },
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
        400: "Unknown table, or a cursor that was never given",
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
        400: "Unknown table, or a bad parameter",
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
      replies: { 200: page("The table", TableSchemaSchema), 400: "Unknown table" },
      isSlow: true,
      run: ({ params, query }) => readTableSchema(deps, params.tableName, query.lateAfter),
    }),
  ];
}

/** The extensions of this service to the contract. D-7.2. */
const EXTENSIONS = SYNC_EXTENSIONS.join(", ");

/** `GET /api/v1/sync/status`. S-4.3. */
export function statusRoute(deps: ServedSync): Operation {
  const headers = { "X-Sync-Extensions": EXTENSIONS, [DEPLOYMENT_HEADER]: deps.deploymentId };
  // Strangers may ask, and a count of a large table that changes takes long.
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

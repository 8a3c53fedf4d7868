// Checks that a reply has the documented fields and answers the request. Other fields are dropped.
import { MAX_LAG_SECONDS } from "../../domain/shared/limits.ts";
import type {
  DigestPage,
  DigestQuery,
  DigestSegment,
} from "../../domain/sync/digest/digest-page.ts";
import type { PullPage } from "../../domain/sync/rows/page.ts";
import type { Integrity, PushResult } from "../../domain/sync/rows/push-result.ts";
import type { UpsertKey } from "../../domain/sync/rows/row-key.ts";
import { COLUMN_TYPES, type ColumnType } from "../../domain/sync/table/column-types.ts";
import type { ConflictRule } from "../../domain/sync/table/table.ts";
import {
  DEPLOYMENT_HEADER,
  type SchemaColumn,
  type TableSchema,
} from "../../domain/sync/table/table-schema.ts";
import type {
  DeletedReply,
  PushRequest,
  SentTombstone,
  StatusReply,
} from "../../ports/tables/remote-peer.ts";
import { invalidReply } from "./errors.ts";
import type { Reply } from "./exchange.ts";
import {
  arrayOf,
  FLAG,
  mapOf,
  OBJECT,
  orNull,
  ReplyFields,
  type Shape,
  SOME_TEXT,
  TEXT,
  TIME,
  wholeNumber,
  wordOf,
} from "./reply-fields.ts";

const COUNT = wholeNumber(0);
/** -1 for a table that cannot be counted. S-2.5. */
const TABLE_COUNT = wholeNumber(-1);
const INTEGRITY = wordOf<Integrity>(["verified", "no_checksum"]);

const KEY: Shape<UpsertKey> = {
  wanted: "a list of key values",
  fits: (value) => Array.isArray(value),
};
const DIGEST: Shape<string> = {
  wanted: "32 hexadecimal digits",
  fits: (value): value is string => typeof value === "string" && /^[0-9a-f]{32}$/.test(value),
};

interface AskedPage {
  readonly tableName: string;
  readonly since: string | null;
  readonly offsetRows: number;
}

export async function readPullPage(reply: Reply, asked: AskedPage): Promise<PullPage> {
  const fields = await ReplyFields.of(reply);
  const page: PullPage = {
    table: fields.read("table", TEXT),
    since: fields.read("since", orNull(TEXT)),
    count: fields.read("count", COUNT),
    total: fields.read("total", COUNT),
    offset: fields.read("offset", COUNT),
    limit: fields.read("limit", COUNT),
    hasMore: fields.read("has_more", FLAG),
    nextOffset: fields.read("next_offset", orNull(COUNT)),
    records: fields.read("records", arrayOf(OBJECT)),
  };
  const end = page.offset + page.limit;
  fields.expect("table", asked.tableName);
  fields.expect("since", asked.since);
  fields.expect("offset", asked.offsetRows);
  fields.expect("count", page.records.length);
  fields.expect("has_more", end < page.total);
  fields.expect("next_offset", page.hasMore ? end : null);
  // Following such pages would never end.
  if (page.hasMore && page.limit === 0) fields.expect("has_more", false);
  // More records than the total: rows were written meanwhile. Fewer: no later page would have the missing rows.
  const least = Math.min(page.limit, Math.max(0, page.total - page.offset));
  if (page.count < least) fields.expect("count", least);
  return page;
}

/** S-2.4. Fields that the request did not ask for are ignored. */
export async function readPushResult(
  reply: Reply,
  tableName: string,
  request: PushRequest,
): Promise<PushResult> {
  const { records, deleted = [], isGuarded, isForced, isDeletesDryRun = false } = request;
  const fields = await ReplyFields.of(reply);
  if (isDeletesDryRun && fields.readOptional("deleted", COUNT).deleted === undefined) {
    const problem =
      "X-Sync-Dry-Run did not arrive; let proxies pass headers that begin with X-Sync-";
    throw invalidReply(reply.label, { problem });
  }
  const upserted = fields.read("upserted", COUNT);
  const result: PushResult = {
    table: fields.read("table", TEXT),
    ...fields.readOptional("received", COUNT),
    upserted,
    ...fields.readOptional("integrity", INTEGRITY),
    ...(isGuarded && records.length > 0 ? readGuarded(fields, upserted) : {}),
    ...(isForced ? fields.readOptional("changed", wholeNumber(0, upserted)) : {}),
    ...(isDeletesDryRun || deleted.length > 0
      ? { deleted: fields.read("deleted", wholeNumber(0, deleted.length)) }
      : {}),
    ...fields.readOptional("message", TEXT),
    ...fields.readOptional("errors", arrayOf(TEXT)),
    ...fields.readOptional("errorCount", COUNT),
    ...fields.readOptional("error", TEXT),
  };
  fields.expect("table", tableName);
  // A proxy that drops `Content-Encoding` makes the peer read an empty body (S-4.2.5) and answer 200.
  if (records.length > 0 && !isDeletesDryRun) fields.expect("received", records.length);
  return result;
}

/** A record was kept, changed, equal already, or failed. D-7.2. */
function readGuarded(fields: ReplyFields, upserted: number) {
  const kept = fields.read("kept", wholeNumber(0, upserted));
  const changed = fields.read("changed", wholeNumber(0, upserted - kept));
  return { kept, changed, ...fields.readOptional("erased", COUNT) };
}

export async function readStatusReply(reply: Reply): Promise<StatusReply> {
  const fields = await ReplyFields.of(reply);
  const status = {
    syncEnabled: fields.read("sync_enabled", FLAG),
    tables: fields.read("tables", arrayOf(TEXT)),
    tableCounts: fields.read("table_counts", mapOf(TABLE_COUNT)),
    lastSync: fields.read("last_sync", mapOf(TEXT)),
    serverTime: fields.read("server_time", TEXT),
    features: { gzip: true, sha256: true, incremental: true } as const,
  };
  const features = new ReplyFields(reply.label, fields.read("features", OBJECT));
  for (const name of Object.keys(status.features)) features.expect(name, true);
  const deploymentId = reply.headers.get(DEPLOYMENT_HEADER) ?? "";
  return {
    ...status,
    extensions: extensionsOf(reply),
    ...(deploymentId === "" ? {} : { deploymentId }),
  };
}

/** The names in `X-Sync-Extensions`. D-7.2. */
function extensionsOf({ headers }: Reply): readonly string[] {
  const names = (headers.get("X-Sync-Extensions") ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

export async function readDigestPage(
  reply: Reply,
  tableName: string,
  query: DigestQuery,
): Promise<DigestPage> {
  const fields = await ReplyFields.of(reply);
  const page: DigestPage = {
    table: fields.read("table", TEXT),
    format: fields.read("format", TEXT),
    columns: fields.read("columns", arrayOf(TEXT)),
    segments: await fields.readEach("segments", reply.turns, readSegment),
    hasMore: fields.read("has_more", FLAG),
    ...fields.readOptional("records", arrayOf(OBJECT)),
  };
  fields.expect("table", tableName);
  // Following such pages would never end.
  const last = page.segments.at(-1);
  if (page.hasMore && (last?.through ?? null) === null) fields.expect("has_more", false);
  if (query.withRecords) fields.read("records", arrayOf(OBJECT));
  return page;
}

function readSegment(fields: ReplyFields): DigestSegment {
  return {
    through: fields.read("through", orNull(KEY)),
    count: fields.read("count", COUNT),
    digest: fields.read("digest", DIGEST),
  };
}

/** The reply of `/deleted/{table}`, D-7.6; `askedCursor` is null for a request without one. */
export async function readDeletedReply(
  reply: Reply,
  tableName: string,
  askedCursor: string | null,
): Promise<Omit<DeletedReply, "bytesCompressed" | "bytesUncompressed">> {
  const fields = await ReplyFields.of(reply);
  const items: readonly SentTombstone[] = await fields.readEach("items", reply.turns, (item) => ({
    key: item.read("key", OBJECT),
    deletedAt: item.read("deleted_at", TIME),
  }));
  const page = {
    items,
    nextCursor: fields.read("next_cursor", orNull(SOME_TEXT)),
    cursor: fields.read("cursor", TEXT),
    earliestAvailable: fields.read("earliest_available", TIME),
    serverTime: fields.read("server_time", TIME),
  };
  fields.expect("table", tableName);
  // Following such pages would never end.
  const isEndless = items.length === 0 || page.nextCursor === askedCursor;
  if (page.nextCursor !== null && isEndless) fields.expect("next_cursor", null);
  return page;
}

// The reply of `/schema/{table}`: a remote that is wrong about its table is found before a row moves. D-7.3.

const COLUMN_TYPE = wordOf<ColumnType>(COLUMN_TYPES);
const DIRECTION = wordOf(["push", "pull"]);
const CONFLICT = wordOf<ConflictRule>(["overwrite", "newer"]);
const TIME_OR_START: Shape<string> = {
  wanted: `${TIME.wanted} or an empty text`,
  fits: (value): value is string => value === "" || TIME.fits(value),
};
const LENGTH = orNull(wholeNumber(1));
const SECONDS: Shape<number> = {
  wanted: `a number from 0 to ${MAX_LAG_SECONDS}`,
  fits: (value): value is number =>
    typeof value === "number" && value >= 0 && value <= MAX_LAG_SECONDS,
};

/** `isLateAsked` is false for a request without a mark: then `late.from` has to be null. */
export async function readTableSchema(
  reply: Reply,
  tableName: string,
  isLateAsked: boolean,
): Promise<TableSchema> {
  const fields = await ReplyFields.of(reply);
  const columns = readColumns(reply, fields);
  const columnName: Shape<string> = {
    wanted: "a column of the table",
    fits: (value): value is string => typeof value === "string" && Object.hasOwn(columns, value),
  };
  const columnNames = { ...arrayOf(columnName), wanted: "a list of columns of the table" };
  const late = new ReplyFields(reply.label, fields.read("late", OBJECT));
  const schema: TableSchema = {
    table: fields.read("table", TEXT),
    timestampColumn: fields.read("timestamp_column", orNull(columnName)),
    upsertKey: fields.read("upsert_key", someOf(columnNames)),
    updateColumns: fields.read("update_columns", allOr(columnNames)),
    columns,
    deletes: fields.read("deletes", FLAG),
    stamped: fields.readOptional("stamped", FLAG).stamped ?? false,
    lagSeconds: fields.read("lag_seconds", SECONDS),
    conflict: fields.readOptional("conflict", CONFLICT).conflict ?? null,
    direction: fields.readOptional("direction", DIRECTION).direction ?? null,
    remoteId: fields.readOptional("remoteId", SOME_TEXT).remoteId ?? null,
    late: { mark: late.read("mark", SOME_TEXT), from: late.read("from", orNull(TIME_OR_START)) },
  };
  fields.expect("table", tableName);
  if (!isLateAsked) late.expect("from", null);
  return schema;
}

function readColumns(reply: Reply, fields: ReplyFields): TableSchema["columns"] {
  const read = Object.entries(fields.read("columns", mapOf(OBJECT))).map(([name, values]) => {
    const column = new ReplyFields(reply.label, values);
    const type = column.read("type", COLUMN_TYPE);
    const nullable = column.read("nullable", FLAG);
    const { autoIncrement } = column.readOptional("autoIncrement", FLAG);
    const numbers = autoIncrement === true ? { autoIncrement } : {};
    return [
      name,
      { type, nullable, ...column.readOptional("maxLength", LENGTH), ...numbers },
    ] as const;
  });
  return Object.fromEntries<SchemaColumn>(read);
}

function someOf(names: Shape<readonly string[]>): Shape<readonly string[]> {
  return {
    wanted: `${names.wanted} that is not empty`,
    fits: (value): value is readonly string[] => names.fits(value) && value.length > 0,
  };
}

function allOr(names: Shape<readonly string[]>): Shape<"__all__" | readonly string[]> {
  return {
    wanted: `"__all__" or ${names.wanted}`,
    fits: (value): value is "__all__" | readonly string[] =>
      value === "__all__" || names.fits(value),
  };
}

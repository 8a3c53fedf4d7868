// Checks that a reply has the documented fields and answers the request. Other fields are dropped.
import type {
  DigestPage,
  DigestQuery,
  DigestSegment,
} from "../../domain/sync/digest/digest-page.ts";
import type { PullPage } from "../../domain/sync/rows/page.ts";
import type { Integrity, PushResult } from "../../domain/sync/rows/push-result.ts";
import type { UpsertKey } from "../../domain/sync/rows/row-key.ts";
import { DEPLOYMENT_HEADER } from "../../domain/sync/table/table-schema.ts";
import type {
  DeletedReply,
  PushRequest,
  SentTombstone,
  StatusReply,
} from "../../ports/tables/remote-peer.ts";
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

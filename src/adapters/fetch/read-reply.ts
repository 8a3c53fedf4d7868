// Checks that a reply is what the document says and what was asked for. Other fields are dropped.
import type { JsonObject } from "../../domain/shared/json.ts";
import type {
  DigestPage,
  DigestQuery,
  DigestSegment,
  Key,
} from "../../domain/sync/digest/digest-page.ts";
import type { PullPage } from "../../domain/sync/rows/page.ts";
import type { Integrity, PushResult } from "../../domain/sync/rows/push-result.ts";
import type { SyncStatus } from "../../domain/sync/run/sync-status.ts";
import type { Reply } from "./exchange.ts";
import { openReply, replyFields } from "./reply-fields.ts";
import {
  arrayOf,
  FLAG,
  mapOf,
  OBJECT,
  orNull,
  type Shape,
  TEXT,
  wholeNumberFrom,
} from "./reply-shape.ts";

const COUNT = wholeNumberFrom(0);
/** -1 stands for a table that cannot be counted. S-2.5. */
const TABLE_COUNT = wholeNumberFrom(-1);
const INTEGRITY: Shape<Integrity> = {
  wanted: `"verified" or "no_checksum"`,
  fits: (value) => value === "verified" || value === "no_checksum",
};

const KEY: Shape<Key> = { wanted: "a list of key values", fits: (value) => Array.isArray(value) };
const DIGEST: Shape<string> = {
  wanted: "32 hexadecimal digits",
  fits: (value): value is string => typeof value === "string" && /^[0-9a-f]{32}$/.test(value),
};

/** The page of a pull, S-2.2. `asked` is what the request said, `since` null when it had none. */
export function readPullPage(
  reply: Reply,
  asked: { readonly tableName: string; readonly since: string | null; readonly offsetRows: number },
): PullPage {
  const fields = openReply(reply);
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
  // Whoever follows such a page would follow it for ever.
  if (page.hasMore && page.limit === 0) fields.expect("has_more", false);
  // More may have come between its total and its records; fewer are rows that would never be asked for.
  const least = Math.min(page.limit, Math.max(0, page.total - page.offset));
  if (page.count < least) fields.expect("count", least);
  return page;
}

/** The result of a push, S-2.4. `sent` is what the request held. */
export function readPushResult(
  reply: Reply,
  sent: { readonly tableName: string; readonly recordCount: number },
): PushResult {
  const fields = openReply(reply);
  const result: PushResult = {
    table: fields.read("table", TEXT),
    ...fields.readOptional("received", COUNT),
    upserted: fields.read("upserted", COUNT),
    ...fields.readOptional("integrity", INTEGRITY),
    ...fields.readOptional("message", TEXT),
    ...fields.readOptional("errors", arrayOf(TEXT)),
    ...fields.readOptional("errorCount", COUNT),
    ...fields.readOptional("error", TEXT),
  };
  fields.expect("table", sent.tableName);
  // When a proxy drops `Content-Encoding` the peer takes the body for an empty one (S-4.2.5) and
  // answers 200 all the same.
  if (sent.recordCount > 0) fields.expect("received", sent.recordCount);
  return result;
}

/** The status, S-2.5. */
export function readSyncStatus(reply: Reply): SyncStatus {
  const fields = openReply(reply);
  const status: SyncStatus = {
    syncEnabled: fields.read("sync_enabled", FLAG),
    tables: fields.read("tables", arrayOf(TEXT)),
    tableCounts: fields.read("table_counts", mapOf(TABLE_COUNT)),
    lastSync: fields.read("last_sync", mapOf(TEXT)),
    serverTime: fields.read("server_time", TEXT),
    features: { gzip: true, sha256: true, incremental: true },
  };
  const features = replyFields(reply.label, fields.read("features", OBJECT));
  for (const name of Object.keys(status.features)) features.expect(name, true);
  return status;
}

/** A digest, D-4.10. */
export function readDigestPage(
  reply: Reply,
  asked: { readonly tableName: string; readonly query: DigestQuery },
): DigestPage {
  const fields = openReply(reply);
  const page: DigestPage = {
    table: fields.read("table", TEXT),
    format: fields.read("format", TEXT),
    columns: fields.read("columns", arrayOf(TEXT)),
    segments: fields
      .read("segments", arrayOf(OBJECT))
      .map((segment) => readSegment(reply, segment)),
    hasMore: fields.read("has_more", FLAG),
    ...fields.readOptional("records", arrayOf(OBJECT)),
  };
  fields.expect("table", asked.tableName);
  // Whoever follows such a page would follow it for ever.
  const last = page.segments.at(-1);
  if (page.hasMore && (last?.through ?? null) === null) fields.expect("has_more", false);
  if (asked.query.withRecords) fields.read("records", arrayOf(OBJECT));
  return page;
}

function readSegment(reply: Reply, segment: JsonObject): DigestSegment {
  const fields = replyFields(reply.label, segment);
  return {
    through: fields.read("through", orNull(KEY)),
    count: fields.read("count", COUNT),
    digest: fields.read("digest", DIGEST),
  };
}

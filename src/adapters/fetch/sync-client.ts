// The HTTP client of the table synchronization document, the package's `repsync/client`. It uses
// web standards only, so the same code runs on Bun, Deno, Node 20 and in browsers.

import { CHECKSUM_PREFIX_CHARS } from "../../domain/shared/limits.ts";
import { wireName } from "../../domain/shared/wire-names.ts";
import { type DigestQuery, digestParameters } from "../../domain/sync/digest/digest-page.ts";
import type { PullPage } from "../../domain/sync/rows/page.ts";
import type { SyncStatus } from "../../domain/sync/run/sync-status.ts";
import {
  type DigestReply,
  type PulledPage,
  type PullRequest,
  type PushedBatch,
  type PushRequest,
  type RemotePeer,
  RemotePeerError,
} from "../../ports/tables/remote-peer.ts";
import { BatchEncoder } from "./encode-batch.ts";
import { exchange, type Reply } from "./exchange.ts";
import { readDigestPage, readPullPage, readPushResult, readSyncStatus } from "./read-reply.ts";
import { readSettings, type SyncClientOptions } from "./settings.ts";
import { sha256Hex } from "./sha256-hex.ts";
import { invalidReply } from "./wire-errors.ts";

export {
  isRawNumber,
  type JsonObject,
  type JsonValue,
  type RawNumber,
} from "../../domain/shared/json.ts";
export type { PushResult } from "../../domain/sync/rows/push-result.ts";
export type { RemotePeerErrorKind, TransferredBytes } from "../../ports/tables/remote-peer.ts";
export {
  type PulledPage,
  type PullPage,
  type PullRequest,
  type PushedBatch,
  type PushRequest,
  type RemotePeer,
  RemotePeerError,
  type SyncClientOptions,
  type SyncStatus,
};

/**
 * A peer over HTTP. A request that fails rejects with `RemotePeerError`. A table name, `offset` or
 * `limit` that no request can carry rejects with `RangeError`, and nothing is sent.
 * `bytesCompressed` of a page is what `Content-Length` says; a chunked reply does not say it, then
 * it is the same as `bytesUncompressed`. Of a push both are the bytes of the request.
 */
export interface SyncClient extends RemotePeer {
  /**
   * Pulls page after page by `next_offset`, from `offset` (0 when absent) to the last one. The
   * signal holds for all of them, the time limit for each. For tables that nobody writes to
   * meanwhile: in a moving table an offset skips or repeats rows, which sync runs avoid by asking
   * again from the last timestamp seen. D-4.5.
   */
  pages(tableName: string, request?: PullRequest): AsyncGenerator<PullPage, void, undefined>;
}

/** Makes a client; nothing is sent yet. Throws `TypeError` or `RangeError` for unusable options. */
export function createSyncClient(options: SyncClientOptions): SyncClient {
  const settings = readSettings(options);
  const keyHeader = { "X-Sync-Key": settings.key };
  const encoder = new BatchEncoder();

  async function pullPage(tableName: string, request: PullRequest = {}): Promise<PulledPage> {
    const { signal } = request;
    const path = `/pull/${tablePath(tableName)}${pullQuery(request)}`;
    const reply = await exchange(settings, { method: "GET", path, headers: keyHeader, signal });
    await verifyChecksum(reply);
    const page = readPullPage(reply, {
      tableName,
      since: request.since || null,
      offsetRows: request.offset ?? 0,
    });
    const bytesUncompressed = reply.body.byteLength;
    return { page, bytesCompressed: wireBytes(reply), bytesUncompressed };
  }

  async function pushBatch(tableName: string, request: PushRequest): Promise<PushedBatch> {
    const { records, signal } = request;
    const path = `/push/${tablePath(tableName)}`;
    const { body, checksum, bytesUncompressed } = await encoder.encode(request);
    const headers = {
      ...keyHeader,
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
      "X-Content-SHA256": checksum,
    };
    const reply = await exchange(settings, { method: "POST", path, headers, body, signal });
    const result = readPushResult(reply, { tableName, recordCount: records.length });
    return { result, bytesCompressed: body.byteLength, bytesUncompressed };
  }

  async function readDigest(
    tableName: string,
    query: DigestQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<DigestReply> {
    const parameters = Object.entries(digestParameters(query))
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${wireName(name)}=${encodeURIComponent(value)}`);
    const path = `/digest/${tablePath(tableName)}?${parameters.join("&")}`;
    const reply = await exchange(settings, { method: "GET", path, headers: keyHeader, signal });
    await verifyChecksum(reply);
    const page = readDigestPage(reply, { tableName, query });
    const bytesUncompressed = reply.body.byteLength;
    return { page, bytesCompressed: wireBytes(reply), bytesUncompressed };
  }

  async function readStatus(request: { readonly signal?: AbortSignal } = {}): Promise<SyncStatus> {
    const { signal } = request;
    const reply = await exchange(settings, { method: "GET", path: "/status", headers: {}, signal });
    return readSyncStatus(reply);
  }

  async function* pages(tableName: string, request: PullRequest = {}) {
    let offset: number | null = request.offset ?? 0;
    while (offset !== null) {
      const { page }: PulledPage = await pullPage(tableName, { ...request, offset });
      yield page;
      offset = page.nextOffset;
    }
  }

  const prepareBatch = (request: PushRequest) => encoder.prepare(request);

  return { pullPage, pushBatch, prepareBatch, readDigest, readStatus, pages };
}

/** The table's name as one path segment. URLs resolve the two dotted names away, encoded or not. */
function tablePath(tableName: string): string {
  if (tableName === "" || tableName === "." || tableName === ".." || !tableName.isWellFormed()) {
    throw new RangeError(`No table has this name: "${tableName}"`);
  }
  return encodeURIComponent(tableName);
}

/** The query of a pull. An empty `since` is left out; a `+` in it is sent as `%2B`. D-3.2. */
function pullQuery(request: PullRequest): string {
  const { since, offset, limit } = request;
  const parameters: string[] = [];
  if (since) parameters.push(`since=${encodeURIComponent(since)}`);
  if (offset !== undefined) parameters.push(rowParameter("offset", { rows: offset, least: 0 }));
  if (limit !== undefined) parameters.push(rowParameter("limit", { rows: limit, least: 1 }));
  return parameters.length === 0 ? "" : `?${parameters.join("&")}`;
}

function rowParameter(
  name: string,
  { rows, least }: { readonly rows: number; readonly least: number },
): string {
  if (Number.isSafeInteger(rows) && rows >= least) return `${name}=${rows}`;
  throw new RangeError(`${name} is not a whole number from ${least}: ${rows}`);
}

/** S-4.1.6. Every page has the header (S-4.1.4, S-4.1.5), so what lacks it is no page. */
async function verifyChecksum(reply: Reply): Promise<void> {
  const expected = reply.headers.get("X-Content-SHA256")?.toLowerCase() ?? "";
  if (expected === "") {
    throw invalidReply(reply.label, { problem: "it has no X-Content-SHA256 header" });
  }
  const actual = await sha256Hex(reply.body);
  if (actual === expected) return;
  const start = actual.slice(0, CHECKSUM_PREFIX_CHARS);
  const text = `${reply.label} got a reply that does not match its X-Content-SHA256: ${start}`;
  throw new RemotePeerError("checksum_mismatch", text);
}

function wireBytes(reply: Reply): number {
  const text = reply.headers.get("Content-Length") ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : reply.body.byteLength;
}

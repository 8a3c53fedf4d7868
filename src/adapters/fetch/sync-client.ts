// Web standards only: it runs on Bun, Deno, Node 20 and in browsers.
import { CHECKSUM_PREFIX_CHARS } from "../../domain/shared/limits.ts";
import { wireName } from "../../domain/shared/wire-names.ts";
import { type DigestQuery, digestParameters } from "../../domain/sync/digest/digest-page.ts";
import type { PullPage } from "../../domain/sync/rows/page.ts";
import type { ConflictRule } from "../../domain/sync/table/table.ts";
import type { TableSchema } from "../../domain/sync/table/table-schema.ts";
import type { Digest } from "../../ports/crypto/crypto.ts";
import {
  type DeletedReply,
  type DeletedRequest,
  type DigestReply,
  type PulledPage,
  type PullRequest,
  type PushedBatch,
  type PushRequest,
  type RemotePeer,
  RemotePeerError,
  type RowsRequest,
  type StatusReply,
  type StoppableRequest,
} from "../../ports/tables/remote-peer.ts";
import {
  type ClientDeps,
  readSettings,
  type Settings,
  type SyncClientOptions,
} from "./client-options.ts";
import { invalidReply } from "./errors.ts";
import { exchange, type Reply } from "./exchange.ts";
import {
  readDeletedReply,
  readDigestPage,
  readPullPage,
  readPushResult,
  readStatusReply,
  readTableSchema,
} from "./read-reply.ts";

/**
 * A peer over HTTP. A failed request rejects with `RemotePeerError`. A table name, `offset` or `limit` that no request can carry
 * rejects with `RangeError`, and nothing is sent.
 * `bytesCompressed` of a page is its `Content-Length`, and equals `bytesUncompressed` for a chunked reply. Of a push both count
 * the request.
 */
export class SyncClient implements RemotePeer {
  readonly #settings: Settings;
  readonly #digest: Digest;
  readonly #clock: ClientDeps["clock"];
  readonly #prepared = new WeakMap<PushRequest["records"], PreparedBatch>();

  /** Throws `TypeError` or `RangeError` for unusable options. */
  constructor(options: SyncClientOptions, deps: ClientDeps) {
    this.#settings = readSettings(options, deps);
    this.#digest = deps.digest;
    this.#clock = deps.clock;
  }

  async pullPage(tableName: string, request: PullRequest = {}): Promise<PulledPage> {
    const offset = rowsOf("offset", request.offset, 0);
    const limit = rowsOf("limit", request.limit, 1);
    const path = `/pull/${tablePath(tableName)}${queryOf({ since: request.since, offset, limit })}`;
    const reply = await this.#get(path, request);
    const since = request.since || null;
    const beganMs = this.#clock.monotonicMs();
    const page = await readPullPage(reply, { tableName, since, offsetRows: request.offset ?? 0 });
    return { page, ...bytesOf(reply), readMs: this.#clock.monotonicMs() - beganMs };
  }

  /**
   * Pulls page after page by `next_offset`, from `offset` (0 when absent). The signal holds for all pages, the time limit for each.
   * In a table that changes meanwhile an offset skips or repeats rows; sync runs ask from the last timestamp instead. D-4.5.
   */
  async *pages(
    tableName: string,
    request: PullRequest = {},
  ): AsyncGenerator<PullPage, void, undefined> {
    let offset: number | null = request.offset ?? 0;
    while (offset !== null) {
      const { page }: PulledPage = await this.pullPage(tableName, { ...request, offset });
      yield page;
      offset = page.nextOffset;
    }
  }

  async pushBatch(tableName: string, request: PushRequest): Promise<PushedBatch> {
    const { isDeletesDryRun, runId, columns, signal } = request;
    const conflict = conflictOf(request);
    const path = `/push/${tablePath(tableName)}`;
    const { body, checksum, bytesUncompressed } = await this.#encoded(request);
    const headers = {
      "X-Sync-Key": this.#settings.key,
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
      "X-Content-SHA256": checksum,
      ...(conflict ? { "X-Sync-Conflict": conflict } : {}),
      ...(isDeletesDryRun ? { "X-Sync-Dry-Run": "deletes" } : {}),
      ...(runId === undefined ? {} : { "X-Sync-Run": runId }),
      ...(columns ? { "X-Sync-Columns": columns } : {}),
    };
    const reply = await exchange(this.#settings, { method: "POST", path, headers, body, signal });
    const result = await readPushResult(reply, tableName, request);
    return { result, bytesCompressed: body.byteLength, bytesUncompressed };
  }

  prepareBatch(request: PushRequest): void {
    const batch = encodeBatch(request, this.#digest);
    // The failure is reported when the batch is sent.
    batch.catch(() => {});
    const { records, syncTimestamp } = request;
    this.#prepared.set(records, { syncTimestamp, conflict: conflictOf(request), batch });
  }

  async readDigest(
    tableName: string,
    query: DigestQuery,
    request: StoppableRequest = {},
  ): Promise<DigestReply> {
    const named = Object.entries(digestParameters(query)).map(
      ([name, value]) => [wireName(name), value] as const,
    );
    const path = `/digest/${tablePath(tableName)}${queryOf(Object.fromEntries(named))}`;
    const reply = await this.#get(path, request);
    return { page: await readDigestPage(reply, tableName, query), ...bytesOf(reply) };
  }

  async readSchema(
    tableName: string,
    { lateAfter, ...request }: StoppableRequest & { readonly lateAfter?: string } = {},
  ): Promise<TableSchema> {
    const query = queryOf({ late_after: lateAfter });
    const reply = await this.#get(`/schema/${tablePath(tableName)}${query}`, request);
    return readTableSchema(reply, tableName, query !== "");
  }

  async readDeleted(tableName: string, request: DeletedRequest = {}): Promise<DeletedReply> {
    const { since, cursor } = request;
    const limit = rowsOf("limit", request.limit, 1);
    const path = `/deleted/${tablePath(tableName)}${queryOf({ since, limit, cursor })}`;
    const reply = await this.#get(path, request);
    const page = await readDeletedReply(reply, tableName, request.cursor || null);
    return { ...page, ...bytesOf(reply) };
  }

  async readStatus({ signal }: StoppableRequest = {}): Promise<StatusReply> {
    const request = { method: "GET", path: "/status", headers: {}, signal } as const;
    return readStatusReply(await exchange(this.#settings, request));
  }

  #encoded(request: PushRequest): Promise<EncodedBatch> {
    const { records, syncTimestamp, deleted = [] } = request;
    const prepared = this.#prepared.get(records);
    // The caller may change the array and send it again.
    this.#prepared.delete(records);
    const isSame =
      prepared?.syncTimestamp === syncTimestamp &&
      prepared?.conflict === conflictOf(request) &&
      deleted.length === 0;
    return prepared !== undefined && isSame ? prepared.batch : encodeBatch(request, this.#digest);
  }

  /** Asks with the sync key and verifies the checksum of the reply. */
  async #get(path: string, { columns, signal }: RowsRequest): Promise<Reply> {
    const told = columns ? { "X-Sync-Columns": columns } : {};
    const headers = { "X-Sync-Key": this.#settings.key, ...told };
    const reply = await exchange(this.#settings, { method: "GET", path, headers, signal });
    await verifyChecksum(this.#digest, reply);
    return reply;
  }
}

/** The table's name as one path segment. URLs drop `.` and `..`, even encoded. */
function tablePath(tableName: string): string {
  if (tableName === "" || tableName === "." || tableName === ".." || !tableName.isWellFormed()) {
    throw new RangeError(`No table has this name: "${tableName}"`);
  }
  return encodeURIComponent(tableName);
}

/** The query without empty and absent parameters; a `+` is sent as `%2B`. D-3.2. */
function queryOf(parameters: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === null || value === ""
      ? []
      : [`${name}=${encodeURIComponent(value)}`],
  );
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

/** Throws `RangeError` for a number that is no whole number from `least`. */
function rowsOf(name: string, rows: number | undefined, least: number): number | undefined {
  if (rows === undefined || (Number.isSafeInteger(rows) && rows >= least)) return rows;
  throw new RangeError(`${name} is not a whole number from ${least}: ${rows}`);
}

/** S-4.1.6. Every page has the header, S-4.1.4 and S-4.1.5. */
async function verifyChecksum(digest: Digest, reply: Reply): Promise<void> {
  const expected = reply.headers.get("X-Content-SHA256")?.toLowerCase() ?? "";
  if (expected === "") {
    throw invalidReply(reply.label, { problem: "it has no X-Content-SHA256 header" });
  }
  const actual = await digest.sha256Hex(reply.body);
  if (actual === expected) return;
  const start = actual.slice(0, CHECKSUM_PREFIX_CHARS);
  const text = `${reply.label} got a reply that does not match its X-Content-SHA256: ${start}`;
  throw new RemotePeerError("checksum_mismatch", text);
}

function bytesOf({ headers, body: { byteLength: bytesUncompressed } }: Reply) {
  const text = headers.get("Content-Length") ?? "";
  const bytesCompressed = /^\d{1,15}$/.test(text) ? Number(text) : bytesUncompressed;
  return { bytesCompressed, bytesUncompressed };
}

interface EncodedBatch {
  readonly body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the JSON. Peers verify it only for gzip bodies, so every body is gzip. S-4.2.5. */
  readonly checksum: string;
  readonly bytesUncompressed: number;
}

/** Without tombstones. */
interface PreparedBatch {
  readonly syncTimestamp: string | undefined;
  readonly conflict: ConflictRule | undefined;
  readonly batch: Promise<EncodedBatch>;
}

function conflictOf({ isGuarded, isForced }: PushRequest): ConflictRule | undefined {
  return isForced ? "overwrite" : isGuarded ? "newer" : undefined;
}

/** The body of S-2.3. A `RawNumber` is written with the digits it has. */
async function encodeBatch(request: PushRequest, digest: Digest): Promise<EncodedBatch> {
  const { records, syncTimestamp, deleted = [] } = request;
  const tombstones = deleted.map(({ key, deletedAt }) => ({ key, deleted_at: deletedAt }));
  const text = JSON.stringify({
    records,
    ...(tombstones.length === 0 ? {} : { deleted: tombstones }),
    // Where a gateway drops the header.
    conflict: conflictOf(request),
    sync_timestamp: syncTimestamp,
  });
  const json = new TextEncoder().encode(text);
  const [checksum, body] = await Promise.all([digest.sha256Hex(json), gzip(json)]);
  return { body, checksum, bytesUncompressed: json.byteLength };
}

/** `CompressionStream` has no level option; runtimes use 6, as S-8 asks. */
async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}

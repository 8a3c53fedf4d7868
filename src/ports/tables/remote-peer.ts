import {
  REFUSALS,
  type RefusalReason,
  type RemotePeerErrorKind,
} from "../../domain/shared/error-kinds.ts";
import { AppError, type AppErrorOptions } from "../../domain/shared/errors.ts";
import type { JsonObject } from "../../domain/shared/json.ts";
import { cutText } from "../../domain/shared/text.ts";
import type { DigestPage, DigestQuery } from "../../domain/sync/digest/digest-page.ts";
import type { DeletedPage, PullPage } from "../../domain/sync/rows/page.ts";
import type { PushResult } from "../../domain/sync/rows/push-result.ts";
import type { SyncStatus } from "../../domain/sync/run/run.ts";
import type { TableSchema } from "../../domain/sync/table/table-schema.ts";

export interface StoppableRequest {
  readonly signal?: AbortSignal;
}

/** A request by which rows come or go. */
export interface RowsRequest extends StoppableRequest {
  /** The `columnsHash` of the remote's schema: an instance with other columns refuses for now. D-7.3. */
  readonly columns?: string | null;
}

/** Absent fields leave the peer's default. */
export interface PullRequest extends RowsRequest {
  /** ISO 8601 time as the peer sent it; null or absent for every row. */
  readonly since?: string | null;
  /** 0 or more. */
  readonly offset?: number;
  /** Rows wanted, 1 or more; the peer may give fewer. */
  readonly limit?: number;
}

export interface PushRequest extends RowsRequest {
  readonly records: readonly JsonObject[];
  readonly syncTimestamp?: string;
  /** Asks for a guarded push. Only of a remote with the extension `conflict-newer`. D-7.2. */
  readonly isGuarded?: boolean;
  /** Newer rows are overwritten, whatever the remote's table says. Only of a remote that tells its `conflict`. D-11.10. */
  readonly isForced?: boolean;
  /** Tombstones, in the same commit. Only of a remote with the extension `deletes`. D-7.6. */
  readonly deleted?: readonly SentTombstone[];
  /** Only asks how many rows `deleted` would remove; records are ignored. D-7.6. */
  readonly isDeletesDryRun?: boolean;
  /** The run that sends it: a remote of this kind then gives no row a time. D-14.2. */
  readonly runId?: string;
}

export interface SentTombstone {
  /** The key columns as pages show them. */
  readonly key: JsonObject;
  /** ISO 8601. */
  readonly deletedAt: string;
}

export interface DeletedRequest extends StoppableRequest {
  /** ISO 8601; only tombstones that the remote has taken in since. */
  readonly since?: string | null;
  /** A `cursor` or `nextCursor` of an earlier reply. */
  readonly cursor?: string | null;
  readonly limit?: number;
}

/** A page of a remote's tombstones. D-7.6. */
export interface DeletedReply extends TransferredBytes, Omit<DeletedPage, "table" | "items"> {
  readonly items: readonly SentTombstone[];
}

/** The status of a remote, and the names of its extensions. D-7.2. */
export interface StatusReply extends SyncStatus {
  readonly extensions: readonly string[];
  /** The id of its store; absent of a remote that tells none. D-10.4. */
  readonly deploymentId?: string;
}

/** Bytes of a body on the wire and before compression. */
export interface TransferredBytes {
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
}

export interface PulledPage extends TransferredBytes {
  readonly page: PullPage;
  /** Milliseconds that reading its text took, once it was here; absent: next to none. */
  readonly readMs?: number;
}

export interface PushedBatch extends TransferredBytes {
  readonly result: PushResult;
}

export interface DigestReply extends TransferredBytes {
  readonly page: DigestPage;
}

interface RemotePeerErrorOptions extends AppErrorOptions {
  readonly status?: number;
  readonly reason?: RefusalReason;
  readonly isTooLong?: boolean;
}

/** Last characters of an address that are always shown, as they say what was asked for. */
const MIN_ADDRESS_CHARS = 16;

/** A failed request. `message` begins with method and address, if any, and says what was wrong. It never holds the key. */
export class RemotePeerError extends AppError {
  override readonly name = "RemotePeerError";
  declare readonly kind: RemotePeerErrorKind;
  /** Status of the reply, for people; null when there was none. `reason` says what it means. */
  readonly status: number | null;
  /** Why the peer refused the request; null unless `kind` is `status`. */
  readonly reason: RefusalReason | null;
  /** True when the reply has more bytes than this end reads: ask for less at once. */
  readonly isTooLong: boolean;

  constructor(kind: RemotePeerErrorKind, message: string, options: RemotePeerErrorOptions = {}) {
    const refusal = options.reason === undefined ? {} : REFUSALS[options.reason];
    // The time to wait says more.
    const { hint: _, ...waiting } = { hint: null, ...refusal };
    super(kind, message, {
      ...(options.retryAfterSeconds === undefined ? refusal : waiting),
      ...options,
    });
    this.status = options.status ?? null;
    this.reason = options.reason ?? null;
    this.isTooLong = options.isTooLong ?? false;
  }

  /** Cuts the address first where the message does not fit: the reason says more. */
  override messageWithin(maxChars: number): string {
    const fitting = super.messageWithin(maxChars);
    const [method = "", address = "", ...problem] = this.message.split(" ");
    const excess = this.message.length - fitting.length;
    if (excess === 0 || !address.includes("://")) return fitting;
    const shown = Math.max(MIN_ADDRESS_CHARS, address.length - excess - 1);
    if (shown >= address.length) return fitting;
    const short = [method, `…${address.slice(-shown)}`, ...problem].join(" ");
    return cutText(short, fitting.length);
  }
}

/** Another deployment of the document. A call is one HTTP request, which it never repeats. Failures are `RemotePeerError`. */
export interface RemotePeer {
  /** Asks for a page and verifies its checksum. The reply's records are as sent, digits included. */
  pullPage(tableName: string, request?: PullRequest): Promise<PulledPage>;

  /** Sends a batch, always with gzip and checksum. Resolves with any 200 reply, rejected records included. */
  pushBatch(tableName: string, request: PushRequest): Promise<PushedBatch>;

  /**
   * Begins to encode a batch that will be sent later, while others are under way: the next `pushBatch` with the very same array and
   * time has less to do. The records must not change in between. Changes no outcome; optional.
   */
  prepareBatch?(request: PushRequest): void;

  /** Verifies the checksum. Not in the document: of other peers the failure's `reason` is `not_found`. D-4.10. */
  readDigest(
    tableName: string,
    query: DigestQuery,
    request?: StoppableRequest,
  ): Promise<DigestReply>;

  /** Reads the schema, with late rows after a mark. Only of a remote with the extension `schema`. D-7.3, D-7.4. */
  readSchema(
    tableName: string,
    request?: StoppableRequest & { readonly lateAfter?: string },
  ): Promise<TableSchema>;

  /** Asks for a page of tombstones. Only of a remote with the extension `deletes`. D-7.6. */
  readDeleted(tableName: string, request?: DeletedRequest): Promise<DeletedReply>;

  /** Needs no key. */
  readStatus(request?: StoppableRequest): Promise<StatusReply>;
}

/** Sends nothing yet. Throws `TypeError` or `RangeError`, without address and key, when these cannot be used. */
export type ConnectPeer = (address: {
  readonly baseUrl: string;
  readonly key: string;
}) => RemotePeer;

import type { JsonObject } from "../../domain/shared/json.ts";
import type { DigestPage, DigestQuery } from "../../domain/sync/digest/digest-page.ts";
import type { PullPage } from "../../domain/sync/rows/page.ts";
import type { PushResult } from "../../domain/sync/rows/push-result.ts";
import type { SyncStatus } from "../../domain/sync/run/run.ts";

/** Absent fields leave the peer's default. */
export interface PullRequest {
  /** ISO 8601 time as the peer sent it; null or absent for every row. */
  readonly since?: string | null;
  /** 0 or more. */
  readonly offset?: number;
  /** Rows wanted, 1 or more; the peer may give fewer. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface StoppableRequest {
  readonly signal?: AbortSignal;
}

export interface PushRequest {
  readonly records: readonly JsonObject[];
  /** When the sync was initiated, ISO 8601. */
  readonly syncTimestamp?: string;
  readonly signal?: AbortSignal;
}

/** Bytes of a body on the wire and before compression. */
export interface TransferredBytes {
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
}

export interface PulledPage extends TransferredBytes {
  readonly page: PullPage;
}

export interface PushedBatch extends TransferredBytes {
  readonly result: PushResult;
}

export interface DigestReply extends TransferredBytes {
  readonly page: DigestPage;
}

export type RemotePeerErrorKind =
  /** No reply: name not found, connection refused or broken. */
  | "unreachable"
  /** No complete reply within the time limit. */
  | "timeout"
  /** The caller's `signal` ended the request. */
  | "aborted"
  /** A reply other than 200; `status` and the peer's own `error` text are kept. */
  | "status"
  /** A 200 reply that is not what the document says: no JSON, fields missing or of a wrong type. */
  | "invalid_reply"
  /** The body does not match its `X-Content-SHA256`. */
  | "checksum_mismatch";

/** A request to a peer that failed. `message` says what was wrong and never holds the key. */
export class RemotePeerError extends Error {
  override readonly name = "RemotePeerError";
  readonly kind: RemotePeerErrorKind;
  /** HTTP status of the reply; null when there was none. */
  readonly status: number | null;
  /** Seconds the peer asked to wait (`Retry-After`, also as a date); null when it did not. */
  readonly retryAfterSeconds: number | null;
  /** True when the reply has more bytes than this end reads: ask for less at once. */
  readonly isTooLong: boolean;

  constructor(
    kind: RemotePeerErrorKind,
    message: string,
    options: {
      readonly status?: number;
      readonly retryAfterSeconds?: number;
      readonly isTooLong?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.kind = kind;
    this.status = options.status ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.isTooLong = options.isTooLong ?? false;
  }
}

/**
 * Another deployment of the document, this service or any other. One method call is one HTTP request; it never
 * retries. Failures are `RemotePeerError`.
 */
export interface RemotePeer {
  /** Asks for a page and verifies its checksum. The reply's records are as sent, digits included. */
  pullPage(tableName: string, request?: PullRequest): Promise<PulledPage>;

  /** Sends a batch, always with gzip and checksum. Resolves with any 200 reply, rejected records included. */
  pushBatch(tableName: string, request: PushRequest): Promise<PushedBatch>;

  /**
   * Begins to encode a batch that will be sent later, while others are under way: the next `pushBatch` with the very
   * same array and time has less to do then. The records must not change in between. Changes no outcome; a peer may do
   * without it.
   */
  prepareBatch?(request: PushRequest): void;

  /**
   * Asks for a digest of a table and verifies its checksum. Not in the document: a peer that is not this service
   * answers 404, which is a failure of kind `status`. D-4.10.
   */
  readDigest(
    tableName: string,
    query: DigestQuery,
    request?: StoppableRequest,
  ): Promise<DigestReply>;

  /** Needs no key. */
  readStatus(request?: StoppableRequest): Promise<SyncStatus>;
}

interface PeerAddress {
  readonly baseUrl: string;
  readonly key: string;
}

/**
 * Makes the peer at an address; nothing is sent yet. Throws `TypeError` or `RangeError`, which show neither address nor
 * key, when they cannot be used.
 */
export type ConnectPeer = (address: PeerAddress) => RemotePeer;

// How much a run sends or asks for at once, and when it repeats a failed request: as much as the remote can take. D-4.6.
import type { RefusalReason, RemotePeerErrorKind } from "../../shared/error-kinds.ts";
import {
  FIRST_BATCH_ROWS,
  LEASE_TTL_MS,
  MAX_GROWING_BATCH_MS,
  MAX_INVALID_REPLY_ATTEMPTS,
  MAX_PUSH_BATCH_BYTES,
  MAX_REQUEST_ATTEMPTS,
  MAX_STALL_MS,
} from "../../shared/limits.ts";
import { PageSize } from "../rows/page-size.ts";
import type { Row } from "../table/table.ts";

/** Longest time to take in a page, so that the lease does not end meanwhile. */
const MAX_TAKING_IN_MS = LEASE_TTL_MS / 3;
/** Once a batch was too large, each good one makes the next larger by this fraction: an eighth. */
const SLOW_GROWTH = 8;

/** The size of the next push batch or pull page. It doubles until one is too large, and then grows slowly. */
export class BatchSize {
  #ceilingRows: number;
  #rows: number;
  #isSearching = true;

  /** Starts at `firstRows`, 1 or more, or `maxRows` when that is less. */
  constructor(maxRows: number, firstRows = FIRST_BATCH_ROWS) {
    this.#ceilingRows = Math.max(1, maxRows);
    this.#rows = Math.min(firstRows, this.#ceilingRows);
  }

  get rows(): number {
    return this.#rows;
  }

  /** After a batch that succeeded: the next one may be larger, unless this one took long. */
  grow(tookMs: number): void {
    if (tookMs > MAX_GROWING_BATCH_MS) return;
    const stepRows = this.#isSearching ? this.#rows : Math.ceil(this.#rows / SLOW_GROWTH);
    this.#rows = Math.min(this.#ceilingRows, this.#rows + stepRows);
  }

  /** Limits the next page by the time in which rows were taken in: to a third of a lease at most. D-11.1. */
  takeIn(rows: number, tookMs: number): void {
    if (tookMs <= MAX_TAKING_IN_MS) return;
    this.#isSearching = false;
    this.#rows = Math.max(1, Math.min(this.#rows, Math.floor((rows * MAX_TAKING_IN_MS) / tookMs)));
  }

  /** After a batch that took too long. */
  shrink(tooManyRows: number): void {
    this.#isSearching = false;
    this.#rows = Math.max(1, Math.min(this.#rows, Math.floor(tooManyRows / 2)));
  }

  /** After a batch that is larger than the remote ever takes. */
  limit(tooManyRows: number): void {
    this.#ceilingRows = Math.max(1, Math.min(this.#ceilingRows, Math.floor(tooManyRows / 2)));
    this.shrink(tooManyRows);
  }
}

/** The numbers of rows, or of tombstones, that remotes were seen to take, or to send in time, at once. D-11.2. */
export class LearnedSizes {
  readonly #rows = new Map<string, number>();

  learn(address: string, tableName: string, tooManyRows: number): void {
    this.#rows.set(`${tableName} ${address}`, Math.max(1, Math.floor(tooManyRows / 2)));
  }

  /** The number of rows that a remote may take; `otherwise` where it has refused none. */
  rowsOf(address: string, tableName: string, otherwise: number): number {
    return Math.min(otherwise, this.#rows.get(`${tableName} ${address}`) ?? otherwise);
  }
}

/** The number of rows, from the first on, that fit into one batch by their bytes and values; at least 1. */
export function rowsThatFit(rows: readonly Row[], maxBytes = MAX_PUSH_BATCH_BYTES): number {
  const size = new PageSize(maxBytes);
  const count = rows.findIndex((row) => !size.takes(row));
  return count < 0 ? rows.length : count;
}

/** The first half is not shorter. */
export function halves<Item>(batch: readonly Item[]): [readonly Item[], readonly Item[]] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}

/** A failure of a request, with the fields of `RemotePeerError`. */
export interface RequestFailure {
  readonly kind: RemotePeerErrorKind;
  /** Null when no peer refused it. */
  readonly reason: RefusalReason | null;
  /** Seconds the peer asked to wait; null when it did not. */
  readonly retryAfterSeconds: number | null;
  /** True for a reply with more bytes than are read. */
  readonly isTooLong: boolean;
  readonly isRecoverable: boolean;
}

interface RetryState {
  /** Attempts so far, 1 or more. */
  readonly attempts: number;
  /** Time since the last success. */
  readonly stalledMs: number;
  /** A random number from 0 to below 1. */
  readonly random: number;
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 10_000;

/** Milliseconds to wait before the next attempt; null to give up. */
export function retryWaitMs(failure: RequestFailure, state: RetryState): number | null {
  if (state.attempts >= maxAttempts(failure)) return null;
  const backoffMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (state.attempts - 1));
  const jitteredMs = Math.round(backoffMs * (0.5 + state.random / 2));
  const waitMs = Math.max(jitteredMs, (failure.retryAfterSeconds ?? 0) * 1000);
  return state.stalledMs + waitMs < MAX_STALL_MS ? waitMs : null;
}

/** True when the body was too large for the remote, or for the time a request may take. */
export function isTooMuchAtOnce(failure: RequestFailure): boolean {
  return failure.kind === "timeout" || isTooLarge(failure);
}

/** True when the reply was too long, or took too long. */
export function isTooMuchToReceive(failure: RequestFailure): boolean {
  return failure.kind === "timeout" || failure.isTooLong;
}

/** True when the remote will not take a body of this size at all. */
export function isTooLarge(failure: RequestFailure): boolean {
  return failure.reason === "too_large";
}

/** Attempts of a request in all, while it fails like this. */
export function maxAttempts({ kind, isRecoverable }: RequestFailure): number {
  if (!isRecoverable) return 1;
  return kind === "invalid_reply" ? MAX_INVALID_REPLY_ATTEMPTS : MAX_REQUEST_ATTEMPTS;
}

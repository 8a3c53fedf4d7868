// When a failed request to the remote is repeated, and when not. D-4.6.
import {
  MAX_INVALID_REPLY_ATTEMPTS,
  MAX_REQUEST_ATTEMPTS,
  MAX_STALL_MS,
} from "../../shared/limits.ts";

/** How a request failed, as `RemotePeerError` has it. */
export interface RequestFailure {
  readonly kind:
    | "unreachable"
    | "timeout"
    | "aborted"
    | "status"
    | "invalid_reply"
    | "checksum_mismatch";
  /** HTTP status of the reply; null when there was none. */
  readonly status: number | null;
  /** Seconds the peer asked to wait; null when it did not. */
  readonly retryAfterSeconds: number | null;
  /** True for a reply with more bytes than are read. */
  readonly isTooLong: boolean;
}

/** Where a request stands when it has failed. */
export interface RetryState {
  /** Attempts so far, 1 or more. */
  readonly attempts: number;
  /** Time since something last went well. */
  readonly stalledMs: number;
  /** A random number from 0 to below 1. */
  readonly random: number;
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 10_000;

/** Statuses that say nothing against the request itself. 422: the body was damaged on its way (S-4.2.2 to S-4.2.4). */
const PASSING_STATUSES: readonly number[] = [408, 422, 425, 429, 500, 502, 503, 504];

/** Milliseconds to wait before the next attempt; null when there must be none. */
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
  return failure.kind === "status" && failure.status === 413;
}

function maxAttempts({ kind, status }: RequestFailure): number {
  switch (kind) {
    case "unreachable":
    case "timeout":
    case "checksum_mismatch":
      return MAX_REQUEST_ATTEMPTS;
    case "invalid_reply":
      return MAX_INVALID_REPLY_ATTEMPTS;
    case "status":
      return status !== null && PASSING_STATUSES.includes(status) ? MAX_REQUEST_ATTEMPTS : 1;
    case "aborted":
      return 1;
  }
}

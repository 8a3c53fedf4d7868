import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { dateTimeMs, parseDateTime } from "../../../domain/shared/time.ts";
import type { StatusReply } from "../../../ports/tables/remote-peer.ts";
import { openRemote, type SyncDeps } from "./sync-deps.ts";

/** The remote deployment with its status, or why the status could not be read. */
export type RemoteStatus = {
  readonly url: string;
  /** Milliseconds that its clock is ahead of ours, wrong by at most half the time of the request; null: unknown. */
  readonly clockAheadMs: number | null;
} & (
  | { readonly status: StatusReply; readonly error: null; readonly hint: null }
  | { readonly status: null; readonly error: string; readonly hint: string | null }
);

/** Asks the remote for its status, once, and for at most `maxWaitMs`; null: the limit of a request. Resolves to null when no remote is configured. A failure of the remote is a result. */
export async function readRemoteStatus(
  deps: SyncDeps,
  maxWaitMs: number | null = null,
): Promise<RemoteStatus | null> {
  if (deps.remoteUrl === null) return null;
  const answered = new AbortController();
  const ending = new AbortController();
  if (maxWaitMs !== null) {
    void deps.timer.sleep(maxWaitMs, answered.signal).then(() => {
      if (!answered.signal.aborted) ending.abort();
    });
  }
  const url = deps.remoteUrl;
  try {
    // Reading the status there needs no sync here.
    const { peer } = openRemote({ ...deps, isSyncEnabled: true });
    const askedAtMs = deps.clock.nowMs();
    const status = await peer.readStatus({ signal: ending.signal });
    const answeredAtMs = deps.clock.nowMs();
    const serverTime = parseDateTime(status.serverTime);
    const clockAheadMs =
      serverTime === null ? null : dateTimeMs(serverTime) - (askedAtMs + answeredAtMs) / 2;
    return { url, status, clockAheadMs, error: null, hint: null };
  } catch (error) {
    if (!isAppError(error)) throw error;
    const late = `The remote did not answer within ${(maxWaitMs ?? 0) / 1000} s`;
    const { message, hint } = ending.signal.aborted ? new AppError("timeout", late) : error;
    return { url, status: null, clockAheadMs: null, error: message, hint };
  } finally {
    answered.abort();
  }
}

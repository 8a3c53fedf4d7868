import { AppError } from "../../domain/errors.ts";
import { MAX_STALL_MS } from "../../domain/limits.ts";
import { retryWaitMs } from "../../domain/sync/retry.ts";
import { RemotePeerError } from "../../ports/remote-peer.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** Requests to the remote, each repeated until it succeeds or there is no hope. D-4.6. */
export interface RemoteCalls {
  /**
   * Makes a request. Throws `sync_failed` when it failed for good, the signal's reason when the run has to stop, and
   * the `RemotePeerError` itself where `passes` says that the caller has another way.
   */
  call<T>(
    request: (signal: AbortSignal) => Promise<T>,
    passes?: (error: RemotePeerError) => boolean,
  ): Promise<T>;
  /** Something went well: the time without progress begins anew. */
  progressed(): void;
}

/** Starts counting the time without progress. */
export function startRemoteCalls(
  { clock, timer, random, logger }: Pick<SyncDeps, "clock" | "timer" | "random" | "logger">,
  signal: AbortSignal,
): RemoteCalls {
  let progressAtMs = clock.monotonicMs();

  async function call<T>(
    request: (signal: AbortSignal) => Promise<T>,
    passes: (error: RemotePeerError) => boolean = () => false,
  ): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      signal.throwIfAborted();
      try {
        const reply = await request(signal);
        progressAtMs = clock.monotonicMs();
        return reply;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof RemotePeerError)) throw error;
        const stalledMs = clock.monotonicMs() - progressAtMs;
        if (passes(error) && stalledMs < MAX_STALL_MS) throw error;
        const waitMs = retryWaitMs(error, { attempts, stalledMs, random: random.next() });
        if (waitMs === null) throw failedForGood(error, attempts);
        logger.warn("Request to the remote failed", {
          attempts,
          wait_ms: waitMs,
          problem: error.message,
        });
        await timer.sleep(waitMs, signal);
      }
    }
  }

  return {
    call,
    progressed() {
      progressAtMs = clock.monotonicMs();
    },
  };
}

function failedForGood(error: RemotePeerError, attempts: number): AppError {
  const suffix = attempts === 1 ? "" : ` (${attempts} attempts)`;
  return new AppError("sync_failed", `${error.message}${suffix}`, { cause: error });
}

import { AppError } from "../../../domain/shared/errors.ts";
import { MAX_RUN_ERROR_CHARS, MAX_STALL_MS } from "../../../domain/shared/limits.ts";
import { cutText } from "../../../domain/shared/text.ts";
import { maxAttempts, retryWaitMs } from "../../../domain/sync/run/pacing.ts";
import type { RetryNotice } from "../../../domain/sync/run/run.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** True for a failure that the caller handles itself: it is thrown unchanged, without another attempt. */
type PassesFailure = (error: RemotePeerError) => boolean;

/** Told before each wait. */
type TellRetry = (retry: Omit<RetryNotice, "type" | "table" | "direction">) => void;

/** Requests to the remote, each repeated until it succeeds or there is no hope. D-4.6. */
export class RemoteCalls {
  readonly #deps: SyncDeps;
  readonly #signal: AbortSignal;
  readonly #tellRetry: TellRetry;
  #progressAtMs: number;

  constructor(deps: SyncDeps, signal: AbortSignal, tellRetry: TellRetry = () => {}) {
    this.#deps = deps;
    this.#signal = signal;
    this.#tellRetry = tellRetry;
    this.#progressAtMs = deps.clock.monotonicMs();
  }

  /** Records a success that was no request, such as a commit: the time without progress begins anew. */
  progressed(): void {
    this.#progressAtMs = this.#deps.clock.monotonicMs();
  }

  /**
   * Makes a request. Throws `sync_failed` when it failed for good, the signal's reason when the run has to stop, and
   * the `RemotePeerError` itself where `passes` says so.
   */
  async call<T>(
    request: (signal: AbortSignal) => Promise<T>,
    passes: PassesFailure = () => false,
  ): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      this.#signal.throwIfAborted();
      try {
        const reply = await request(this.#signal);
        this.progressed();
        return reply;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof RemotePeerError)) throw error;
        await this.#waitAfter(error, attempts, passes);
      }
    }
  }

  /** Waits before the next attempt. Throws when the request is given up. */
  async #waitAfter(error: RemotePeerError, attempts: number, passes: PassesFailure): Promise<void> {
    const { clock, timer, random, logger } = this.#deps;
    const stalledMs = clock.monotonicMs() - this.#progressAtMs;
    if (passes(error) && stalledMs < MAX_STALL_MS) throw error;
    const waitMs = retryWaitMs(error, { attempts, stalledMs, random: random.next() });
    if (waitMs === null) throw failedForGood(error, attempts);
    logger.warn("Request to the remote failed", {
      attempts,
      wait_ms: waitMs,
      problem: error.message,
    });
    this.#tellRetry({
      attempt: attempts + 1,
      maxAttempts: maxAttempts(error),
      waitMs,
      reason: inOneLine(error.message),
    });
    await timer.sleep(waitMs, this.#signal);
  }
}

function inOneLine(message: string): string {
  return cutText(message.replaceAll(/\s+/g, " "), MAX_RUN_ERROR_CHARS);
}

function failedForGood(error: RemotePeerError, attempts: number): AppError {
  const tried = attempts === 1 ? "" : ` (${attempts} attempts)`;
  const message = error.messageWithin(MAX_RUN_ERROR_CHARS - tried.length) + tried;
  const { hint, isRecoverable } = error;
  return new AppError("sync_failed", message, { cause: error, hint, isRecoverable });
}

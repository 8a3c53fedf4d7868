// Leases, renewed in the background: on all instances together, one run at a time moves a table in a direction. D-4.8.
import { ERROR_KINDS } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { LEASE_TTL_MS, LEASE_WAIT_MS } from "../../../domain/shared/limits.ts";
import type { SyncDirection } from "../../../domain/sync/run/run.ts";
import type { Clock, Logger, Timer } from "../../../ports/runtime/runtime.ts";
import type { HeldLease, LeaseClaim, LeaseGiver } from "../../../repositories/leases.ts";

const LOOK_AGAIN_MS = 500;
/** Time that must be left of a lease before a write begins. */
const SAFETY_MS = 2_000;

/** Disposing ends the renewal and frees the lease, and never rejects. */
export interface RunLease extends AsyncDisposable {
  /** Aborted, with the `AppError` to throw, when the lease is lost or the run is to stop. */
  readonly signal: AbortSignal;
  /** For commits that are made under the lease; null for a run that writes nothing. */
  readonly claim: LeaseClaim | null;

  /** False once the right to write is in doubt. */
  isHeld(): boolean;

  /** To be called right before every request that writes, and every commit. Throws the signal's reason once `isHeld` is false. */
  assertHeld(): void;

  /** For a caller whose commit was refused with `lease_lost`. */
  lose(): void;
}

/** The lease of a run that writes nothing: it excludes no other. */
export function noLease(signal: AbortSignal): RunLease {
  return {
    signal,
    claim: null,
    isHeld: () => !signal.aborted,
    assertHeld: () => signal.throwIfAborted(),
    lose() {},
    async [Symbol.asyncDispose]() {},
  };
}

export interface LeaseDeps {
  readonly leases: LeaseGiver;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly timer: Timer;
  readonly logger: Logger;
}

export function transferLeaseName(direction: SyncDirection, tableName: string): string {
  return `sync ${direction} ${tableName}`;
}

/**
 * Takes a lease, waiting while another run has it; `stop` ends the wait, and the lease, with an `AppError`. D-4.8.
 * Throws `sync_failed` naming the run in the way when that takes longer than `LEASE_WAIT_MS`.
 */
export async function holdLease(
  deps: LeaseDeps,
  name: string,
  holder: string,
  stop: AbortSignal,
): Promise<RunLease> {
  const startedAtMs = deps.clock.monotonicMs();
  for (;;) {
    stop.throwIfAborted();
    const answer = await tryLease(deps, name, holder, stop);
    if (!("heldBy" in answer)) return answer;
    if (deps.clock.monotonicMs() - startedAtMs >= LEASE_WAIT_MS) {
      const text = `Run ${answer.heldBy} holds "${name}"`;
      throw new AppError("sync_failed", text, { hint: "Try again later", isRecoverable: true });
    }
    await deps.timer.sleep(LOOK_AGAIN_MS, stop);
  }
}

/** Takes a lease if it is free now; otherwise resolves to its holder's name. Throws `store_unavailable`. */
export async function tryLease(
  deps: LeaseDeps,
  name: string,
  holder: string,
  stop: AbortSignal,
): Promise<RunLease | { readonly heldBy: string }> {
  const askedAtMs = deps.clock.monotonicMs();
  const answer = await deps.leases.acquire({ name, holder, ttlMs: LEASE_TTL_MS });
  if ("heldBy" in answer) return answer;
  return renewed(deps, { name, lease: answer, askedAtMs }, stop);
}

function renewed(
  { clock, timer, logger }: LeaseDeps,
  { name, lease, ...taken }: { name: string; lease: HeldLease; askedAtMs: number },
  stop: AbortSignal,
): RunLease {
  const lost = new AbortController();
  const released = new AbortController();
  const signal = AbortSignal.any([stop, lost.signal]);
  /** When the last successful request began: the lease ends here no later than in the store. */
  let { askedAtMs } = taken;
  const isOver = () => released.signal.aborted || signal.aborted;
  const isHeld = () =>
    !signal.aborted && clock.monotonicMs() < askedAtMs + LEASE_TTL_MS - SAFETY_MS;
  const lose = () => {
    const text = `The lease "${name}" was lost, so the run stopped`;
    const { hint, isRecoverable } = ERROR_KINDS.lease_lost;
    lost.abort(new AppError("sync_failed", text, { hint, isRecoverable }));
  };
  const renewUntilEnded = async () => {
    // Counted from the request, as the lease is: the answer may have taken long.
    for (let triedAtMs = askedAtMs; !isOver(); ) {
      const waitMs = triedAtMs + LEASE_TTL_MS / 4 - clock.monotonicMs();
      await timer.sleep(Math.max(0, waitMs), released.signal);
      if (released.signal.aborted) return;
      triedAtMs = clock.monotonicMs();
      try {
        if (await lease.renew()) askedAtMs = triedAtMs;
        else if (!released.signal.aborted) lose();
      } catch (error) {
        logger.error("Lease could not be renewed", error, { lease: name });
      }
    }
  };
  // Beside the renewal, which may wait for the store longer than the lease lasts.
  const loseWhenOver = async () => {
    while (!isOver()) {
      const leftMs = askedAtMs + LEASE_TTL_MS - clock.monotonicMs();
      if (leftMs <= 0) lose();
      else await timer.sleep(leftMs, released.signal);
    }
  };
  void renewUntilEnded();
  void loseWhenOver();
  return {
    signal,
    claim: lease.claim,
    isHeld,
    lose,
    assertHeld() {
      if (!isHeld()) lose();
      signal.throwIfAborted();
    },
    async [Symbol.asyncDispose]() {
      released.abort();
      try {
        await lease.release();
      } catch (error) {
        logger.error("Lease could not be released", error, { lease: name });
      }
    },
  };
}

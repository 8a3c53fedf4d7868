// Leases that are renewed in the background: one run at a time moves a table in a direction, on all instances. D-4.8. A lease
// is two documents: renewals write the one, taking it and every commit under it the other. So a renewal never meets a commit,
// and who was suspended commits nothing once another run has taken the lease.
import { ERROR_KINDS } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { LEASE_TTL_MS, LEASE_WAIT_MS } from "../../../domain/shared/limits.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { Clock, Logger, Timer } from "../../../ports/runtime/runtime.ts";
import type { HeldLease, LeaseClaim, LeaseGiver } from "../../../repositories/leases.ts";

/** The pause of a run that waits for another one before it looks again. */
const WAIT_STEP_MS = 500;
/** Time that must be left of a lease before a write begins. */
const SAFETY_MS = 2_000;

/** The right of one run to go on. This one is for a run that writes nothing: it excludes no other. */
export class RunLease {
  /** Aborted, with the `AppError` to throw, when the lease is lost or the run is to stop. */
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  /** For commits that are made under the lease; null for a run that writes nothing. */
  get claim(): LeaseClaim | null {
    return null;
  }

  /** False once the right to write is in doubt. */
  isHeld(): boolean {
    return !this.signal.aborted;
  }

  /** Call it right before every request that writes, and every commit. Throws the signal's reason once `isHeld` is false. */
  assertHeld(): void {
    this.signal.throwIfAborted();
  }

  /** Call it when a commit was refused as the lease is not held any more. */
  lose(): void {}

  /** Ends the renewal and frees the lease. Never rejects. */
  async release(): Promise<void> {}
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
    await deps.timer.sleep(WAIT_STEP_MS, stop);
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
  const lease = new RenewedLease(deps, name, answer, askedAtMs);
  lease.endWith(stop);
  return lease;
}

/** A lease that is renewed until it is released or lost. */
class RenewedLease extends RunLease {
  readonly #deps: LeaseDeps;
  readonly #name: string;
  readonly #lease: HeldLease;
  readonly #lost: AbortController;
  readonly #released = new AbortController();
  /** The time before the last request that succeeded, so that the lease never lasts longer here than in the store. */
  #askedAtMs: number;

  constructor(deps: LeaseDeps, name: string, lease: HeldLease, askedAtMs: number) {
    const lost = new AbortController();
    super(lost.signal);
    this.#lost = lost;
    this.#deps = deps;
    this.#name = name;
    this.#lease = lease;
    this.#askedAtMs = askedAtMs;
    void this.#renewUntilEnded();
    void this.#loseWhenOver();
  }

  /** Loses the lease when `stop` is aborted, as it may have been while the lease was asked for. */
  endWith(stop: AbortSignal): void {
    const onStop = () => this.#lost.abort(stop.reason);
    if (stop.aborted) onStop();
    else stop.addEventListener("abort", onStop, { signal: this.#released.signal });
  }

  override get claim(): LeaseClaim {
    return this.#lease.claim;
  }

  override isHeld(): boolean {
    const isSafe = this.#deps.clock.monotonicMs() < this.#askedAtMs + LEASE_TTL_MS - SAFETY_MS;
    return isSafe && !this.signal.aborted;
  }

  override assertHeld(): void {
    if (!this.isHeld()) this.lose();
    this.signal.throwIfAborted();
  }

  override async release(): Promise<void> {
    this.#released.abort();
    try {
      await this.#lease.release();
    } catch (error) {
      this.#deps.logger.error("Lease could not be released", error, { lease: this.#name });
    }
  }

  override lose(): void {
    const text = `The lease "${this.#name}" was lost, so the run stopped`;
    const { hint, isRecoverable } = ERROR_KINDS.lease_lost;
    this.#lost.abort(new AppError("sync_failed", text, { hint, isRecoverable }));
  }

  #isOver(): boolean {
    return this.#released.signal.aborted || this.signal.aborted;
  }

  async #renewUntilEnded(): Promise<void> {
    const { clock, timer, logger } = this.#deps;
    // From the request on, as the lease lasts: its answer may have been long in coming.
    for (let askedAtMs = this.#askedAtMs; !this.#isOver(); ) {
      const waitMs = askedAtMs + LEASE_TTL_MS / 4 - clock.monotonicMs();
      await timer.sleep(Math.max(0, waitMs), this.#released.signal);
      if (this.#released.signal.aborted) return;
      askedAtMs = clock.monotonicMs();
      try {
        if (await this.#lease.renew()) this.#askedAtMs = askedAtMs;
        else if (!this.#released.signal.aborted) this.lose();
      } catch (error) {
        logger.error("Lease could not be renewed", error, { lease: this.#name });
      }
    }
  }

  /** Beside the renewal, as that may wait for the store for longer than the lease lasts. */
  async #loseWhenOver(): Promise<void> {
    const { clock, timer } = this.#deps;
    while (!this.#isOver()) {
      const leftMs = this.#askedAtMs + LEASE_TTL_MS - clock.monotonicMs();
      if (leftMs <= 0) this.lose();
      else await timer.sleep(leftMs, this.#released.signal);
    }
  }
}

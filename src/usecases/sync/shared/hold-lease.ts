import { AppError } from "../../../domain/shared/errors.ts";
import { LEASE_TTL_MS, LEASE_WAIT_MS } from "../../../domain/shared/limits.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { HeldLease } from "../../../ports/runs/lease-store.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** How often a run that waits for another one looks again. */
const WAIT_STEP_MS = 500;
/** Time that must be left of a lease before a write begins. */
const SAFETY_MS = 2_000;

/** A lease that is renewed in the background until it is released or lost. */
export interface RunLease {
  /** Aborted, with the `AppError` to throw, when the lease is lost or the run is to stop. */
  readonly signal: AbortSignal;
  /** Call it right before every request that writes, and every commit. Throws the signal's reason once the right to write is in doubt. */
  assertHeld(): void;
  /** Ends the renewal and frees the lease. Never rejects. */
  release(): Promise<void>;
}

/** The lease of one table in one direction. D-4.8. */
export function transferLeaseName(direction: SyncDirection, tableName: string): string {
  return `sync ${direction} ${tableName}`;
}

/** Whether a lease that was asked for at a time is certain to last for a write that begins now, without renewal. */
export function isSurelyHeld(clock: Pick<Clock, "monotonicMs">, askedAtMs: number): boolean {
  return clock.monotonicMs() < askedAtMs + LEASE_TTL_MS - SAFETY_MS;
}

/** What holding a lease needs. */
type LeaseDeps = Pick<SyncDeps, "leases" | "clock" | "timer" | "logger">;

/** Which lease to hold. */
export interface LeaseWish {
  /** Such as `sync push listings`. */
  readonly name: string;
  readonly runId: string;
  /** Ends the run from outside; its reason is an `AppError`. */
  readonly stop: AbortSignal;
}

/**
 * Takes a lease, waiting for whoever has it. D-4.8.
 * Throws `sync_failed` naming the run in the way when that takes longer than `LEASE_WAIT_MS`.
 */
export async function holdLease(deps: LeaseDeps, wish: LeaseWish): Promise<RunLease> {
  const startedAtMs = deps.clock.monotonicMs();
  for (;;) {
    wish.stop.throwIfAborted();
    const askedAtMs = deps.clock.monotonicMs();
    const request = { name: wish.name, holder: wish.runId, ttlMs: LEASE_TTL_MS };
    const answer = await deps.leases.acquire(request);
    if (!("heldBy" in answer)) return keepLease(deps, wish, { lease: answer, askedAtMs });
    if (deps.clock.monotonicMs() - startedAtMs >= LEASE_WAIT_MS) {
      const text = `Run ${answer.heldBy} is in the way: it holds "${wish.name}"; try again later`;
      throw new AppError("sync_failed", text);
    }
    await deps.timer.sleep(WAIT_STEP_MS, wish.stop);
  }
}

function keepLease(
  { clock, timer, logger }: LeaseDeps,
  { name, stop }: LeaseWish,
  held: { readonly lease: HeldLease; readonly askedAtMs: number },
): RunLease {
  const { lease } = held;
  const controller = new AbortController();
  const ended = new AbortController();
  const onStop = () => controller.abort(stop.reason);
  // It may have come while the lease was asked for.
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop);
  // The time before the last request that succeeded, so that the lease never lasts longer here than in the store.
  let askedAtMs = held.askedAtMs;
  const lose = () =>
    controller.abort(
      new AppError("sync_failed", `The lease "${name}" was lost, so the run stopped; run again`),
    );

  async function renewUntilEnded(): Promise<void> {
    while (!ended.signal.aborted && !controller.signal.aborted) {
      await timer.sleep(LEASE_TTL_MS / 4, ended.signal);
      if (ended.signal.aborted) return;
      const nowMs = clock.monotonicMs();
      try {
        if (await lease.renew()) askedAtMs = nowMs;
        else if (!ended.signal.aborted) lose();
      } catch (error) {
        logger.error("Lease could not be renewed", error, { lease: name });
      }
    }
  }

  /** Beside the renewal, as that may wait for the store for longer than the lease lasts. */
  async function loseWhenOver(): Promise<void> {
    while (!ended.signal.aborted && !controller.signal.aborted) {
      const leftMs = askedAtMs + LEASE_TTL_MS - clock.monotonicMs();
      if (leftMs <= 0) lose();
      else await timer.sleep(leftMs, ended.signal);
    }
  }

  void renewUntilEnded();
  void loseWhenOver();
  return {
    signal: controller.signal,
    assertHeld() {
      if (!isSurelyHeld(clock, askedAtMs)) lose();
      controller.signal.throwIfAborted();
    },
    async release() {
      stop.removeEventListener("abort", onStop);
      ended.abort();
      try {
        await lease.release();
      } catch (error) {
        logger.error("Lease could not be released", error, { lease: name });
      }
    },
  };
}

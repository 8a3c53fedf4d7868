// Ends a run or a comparison from outside, whichever instance it is on. D-7.8.
import { AppError } from "../../../domain/shared/errors.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { type RunItem, runItem } from "./run-item.ts";
import { findKept } from "./sync-lists.ts";

/** How often a run looks whether it is to end, and who waits for that whether it has. */
const LOOK_MS = 500;
/** Time that is waited for the end of a cancelled run. D-7.8. */
const MAX_WAIT_MS = 20_000;

/**
 * Ends a run before its next write and resolves to it once it has ended. `by` names who asked. Throws `not_found`,
 * `conflict` for one that has ended before, and `sync_failed` when it has not ended within 20 s; it still will.
 */
export async function cancelRun(deps: SyncDeps, runId: string, by: string): Promise<RunItem> {
  const before = await findKept(deps, runId);
  if (before.status !== "running") {
    throw new AppError("conflict", `The run has ended before, as ${before.status}`);
  }
  await deps.runs.cancel(runId, `Cancelled by ${by}`);
  const askedAtMs = deps.clock.monotonicMs();
  while (deps.clock.monotonicMs() - askedAtMs < MAX_WAIT_MS) {
    await deps.timer.sleep(LOOK_MS);
    const run = await findKept(deps, runId);
    if (run.status !== "running") return runItem(run);
  }
  const text = "The run has not ended within 20 s; it will before its next write: look at it again";
  throw new AppError("sync_failed", text);
}

/** Calls `cancel` once somebody asks for the end of a kept run, until `ended`. Never rejects. */
export async function followCancellation(
  { runs, timer, logger }: SyncDeps,
  runId: string,
  ended: AbortSignal,
  cancel: (reason: AppError) => void,
): Promise<void> {
  while (!ended.aborted) {
    await timer.sleep(LOOK_MS, ended);
    if (ended.aborted) return;
    try {
      const reason = await runs.cancellation(runId);
      if (reason !== null) return cancel(new AppError("sync_failed", reason));
    } catch (error) {
      logger.error("It could not be read whether a run is to end", error, { run_id: runId });
    }
  }
}

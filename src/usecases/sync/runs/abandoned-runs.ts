// Finds runs whose process was killed though nobody lists runs and none begins, so that operators are told. D-10.12.
import type { SyncDeps } from "../shared/sync-deps.ts";
import type { Schedule } from "./scheduled-runs.ts";
import { endAbandonedRuns } from "./sync-lists.ts";

/** A little more than a lease lasts without its process. */
const LOOK_EVERY_MS = 15_000;

/** Looks for abandoned runs again and again, until it is stopped. */
export function watchAbandonedRuns(deps: SyncDeps): Schedule {
  const stopped = new AbortController();
  void lookUntil(deps, stopped.signal);
  return { stop: () => stopped.abort() };
}

/** Never rejects. A store that does not answer is told by what else asks for it. */
async function lookUntil(deps: SyncDeps, stopped: AbortSignal): Promise<void> {
  for (;;) {
    await deps.timer.sleep(LOOK_EVERY_MS, stopped);
    if (stopped.aborted) return;
    try {
      await endAbandonedRuns(deps);
    } catch (error) {
      deps.logger.debug("Abandoned runs could not be looked for", { problem: String(error) });
    }
  }
}

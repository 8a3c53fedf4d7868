// Runs on a schedule. Of several instances on one store, one starts each of them. D-1.3.10.
import type { RunRequest } from "../../../domain/sync/run/run.ts";
import type { Ids, Scheduler } from "../../../ports/runtime/runtime.ts";
import { type LeaseDeps, tryLease } from "../shared/hold-lease.ts";
import type { StartedRun } from "./start-run.ts";

/** Starts runs, as `ActiveRuns` does. */
interface RunStarter {
  start(request: RunRequest): Pick<StartedRun, "outcome">;
}

interface ScheduledRunsDeps extends LeaseDeps {
  readonly scheduler: Scheduler;
  readonly activeRuns: RunStarter;
  readonly ids: Ids;
}

const LEASE_NAME = "sync schedule";

/** Moves all tables both ways at the times of a cron expression. `stop` lets no further run begin. */
export function startSchedule(deps: ScheduledRunsDeps, cronText: string): { stop(): void } {
  const holder = deps.ids.next();
  deps.logger.info("Schedule started", { schedule: cronText });
  return deps.scheduler.start(cronText, async () => {
    try {
      await runOnce(deps, holder);
    } catch (error) {
      deps.logger.error("Scheduled sync run could not begin", error);
    }
  });
}

/** A lease that is lost meanwhile does no harm: every transfer holds one of its own. */
async function runOnce(deps: ScheduledRunsDeps, holder: string): Promise<void> {
  const lease = await tryLease(deps, LEASE_NAME, holder, new AbortController().signal);
  if ("heldBy" in lease) {
    deps.logger.info("Scheduled sync run skipped: another instance is running it");
    return;
  }
  try {
    const run = deps.activeRuns.start({
      direction: "both",
      tableName: null,
      isFull: false,
      isDryRun: false,
      trigger: "schedule",
    });
    await run.outcome;
  } finally {
    await lease.release();
  }
}

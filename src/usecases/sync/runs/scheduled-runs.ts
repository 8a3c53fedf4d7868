// Runs and comparisons on a schedule, each started by one of the instances on a store, and the look for runs whose process was
// killed. D-1.3.10, D-7.5, D-10.12.
import { formatMs } from "../../../domain/shared/time.ts";
import type { CompareRepair, RunRequest } from "../../../domain/sync/run/run.ts";
import type { Registry } from "../../../domain/sync/table/table.ts";
import { type Ids, repeat } from "../../../ports/runtime/runtime.ts";
import { isDue, type ScheduleDeps } from "../../../repositories/kept-values.ts";
import { type LeaseDeps, tryLease } from "../shared/hold-lease.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import type { CompareRequest, StartedComparison } from "./start-comparison.ts";
import type { StartedRun } from "./start-run.ts";
import { endAbandonedRuns } from "./stored-runs.ts";

/** A little more than a lease lasts without its process. */
const ABANDONED_LOOK_MS = 15_000;

/** The part of `ActiveRuns` that schedules use. */
interface RunStarter {
  start(request: RunRequest): Pick<StartedRun, "outcome">;
  compare(request: CompareRequest): Pick<StartedComparison, "outcome">;
}

interface ScheduledRunsDeps extends Omit<LeaseDeps, "clock">, ScheduleDeps {
  readonly activeRuns: RunStarter;
  readonly ids: Ids;
}

export interface Schedule {
  /** Lets nothing more begin. */
  stop(): void;
}

/** Moves all tables both ways at the times of a cron expression. D-1.3.10. */
export function startSchedule(deps: ScheduledRunsDeps, cronText: string): Schedule {
  const flags = { isFull: false, isDryRun: false, isForced: false, maxDeletes: null };
  const request = { direction: "both", tableName: null, ...flags, trigger: "schedule" } as const;
  const run = () => deps.activeRuns.start(request).outcome;
  return scheduleWork(deps, cronText, "sync run", run);
}

/** Compares all tables, one after the other, and repairs them, at the times of a cron expression. D-7.5. */
export function startCompareSchedule(
  deps: ScheduledRunsDeps & { readonly registry: Registry },
  cronText: string,
  repair: CompareRepair | null,
): Schedule {
  return scheduleWork(deps, cronText, "comparison", async () => {
    for (const tableName of [...deps.registry.keys()]) {
      // The registry may have lost the table since.
      if (!deps.registry.has(tableName)) continue;
      await deps.activeRuns.compare({ tableName, repair, trigger: "schedule" }).outcome;
    }
  });
}

function scheduleWork(
  deps: ScheduledRunsDeps,
  cronText: string,
  name: "sync run" | "comparison",
  run: () => Promise<unknown>,
): Schedule {
  const { logger } = deps;
  const holder = deps.ids.next();
  const [leaseName, lastTime] =
    name === "sync run"
      ? (["sync schedule", "last_sync_time"] as const)
      : (["compare schedule", "last_compare_time"] as const);
  logger.info("Schedule started", { schedule: cronText, of: name });
  return deps.scheduler.start(cronText, async () => {
    try {
      // A lease that is lost meanwhile does no harm: every transfer holds one of its own.
      const lease = await tryLease(deps, leaseName, holder, new AbortController().signal);
      if ("heldBy" in lease) {
        logger.info(`Scheduled ${name} skipped: another instance is running it`);
        return;
      }
      try {
        if (!(await isDue(deps, lastTime, cronText))) {
          logger.info(`Scheduled ${name} skipped: another instance has run it`);
          return;
        }
        await deps.scheduleTimes.keep(lastTime, formatMs(deps.clock.nowMs()));
        await run();
      } finally {
        await lease.release();
      }
    } catch (error) {
      logger.error(`Scheduled ${name} could not begin`, error);
    }
  });
}

/** Marks abandoned runs as failed, until it is stopped, so that operators are told even where nobody lists runs. */
export function watchAbandonedRuns(deps: SyncDeps): Schedule {
  const { timer, logger } = deps;
  const stopped = new AbortController();
  // Others tell of a store that does not answer.
  const tell = (error: unknown) =>
    logger.debug("Abandoned runs could not be looked for", { problem: String(error) });
  const look = () => endAbandonedRuns(deps).catch(tell);
  void repeat(timer, ABANDONED_LOOK_MS, stopped.signal, look);
  return { stop: () => stopped.abort() };
}

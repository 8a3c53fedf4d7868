// Runs that begin by the clock. Of several instances on a store one does them. D-1.3.10.
import { LEASE_TTL_MS } from "../../../domain/shared/limits.ts";
import type { HeldLease, LeaseStore } from "../../../ports/runs/lease-store.ts";
import type { Logger } from "../../../ports/runtime/logger.ts";
import type { Ids, Scheduler, Timer } from "../../../ports/runtime/runtime.ts";
import type { ActiveRuns } from "./active-runs.ts";

/** What scheduled runs need. */
export interface ScheduledRunsDeps {
  readonly scheduler: Scheduler;
  readonly activeRuns: Pick<ActiveRuns, "start">;
  readonly leases: LeaseStore;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly logger: Logger;
}

const LEASE_NAME = "sync schedule";

/** Moves all tables both ways at the times of a cron text. `stop` lets no further run begin. */
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

async function runOnce(deps: ScheduledRunsDeps, holder: string): Promise<void> {
  const request = { name: LEASE_NAME, holder, ttlMs: LEASE_TTL_MS };
  const lease = await deps.leases.acquire(request);
  if ("heldBy" in lease) {
    deps.logger.info("Scheduled sync run left to another instance, which is at it");
    return;
  }
  const ended = new AbortController();
  const renewing = renewUntil(deps, lease, ended.signal);
  try {
    const { outcome } = deps.activeRuns.start({
      ...{ direction: "both", tableName: null, isFull: false, isDryRun: false },
      trigger: "schedule",
    });
    await outcome;
  } finally {
    ended.abort();
    await renewing;
    await release(deps, lease);
  }
}

/** A lease that stays ends by itself. */
async function release({ logger }: ScheduledRunsDeps, lease: HeldLease): Promise<void> {
  try {
    await lease.release();
  } catch (error) {
    logger.error("Lease could not be released", error, { lease: LEASE_NAME });
  }
}

/** A lease that is lost does no harm: every transfer holds one of its own. */
async function renewUntil(
  { timer, logger }: ScheduledRunsDeps,
  lease: HeldLease,
  ended: AbortSignal,
): Promise<void> {
  for (;;) {
    await timer.sleep(LEASE_TTL_MS / 4, ended);
    if (ended.aborted) return;
    try {
      await lease.renew();
    } catch (error) {
      logger.error("Lease could not be renewed", error, { lease: LEASE_NAME });
    }
  }
}

// Runs that ended with their process: whoever starts the next one says so in the list. D-4.9.
import { LEASE_TTL_MS } from "../../../domain/shared/limits.ts";
import { dateTimeMs, formatMs } from "../../../domain/shared/time.ts";
import type { SyncRun } from "../../../domain/sync/run/run.ts";
import { holdLease, type LeaseWish, type RunLease } from "../shared/hold-lease.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";

/** Runs that are looked at; older ones are not still going on. */
const LOOK_BACK_RUNS = 50;

/** Holds the lease that shows that a run is alive. */
export function holdRun(deps: SyncDeps, run: Omit<LeaseWish, "name">): Promise<RunLease> {
  return holdLease(deps, { ...run, name: leaseName(run.runId) });
}

/** Marks runs as failed that nobody is at work on any more. */
export async function endAbandonedRuns(deps: SyncDeps): Promise<void> {
  const runs = await deps.runs.list({ limit: LOOK_BACK_RUNS, beforeId: null });
  for (const { runId, status } of runs) {
    if (status === "running") await endIfAbandoned(deps, runId);
  }
}

async function endIfAbandoned({ leases, runs, clock }: SyncDeps, runId: string): Promise<void> {
  const request = { name: leaseName(runId), holder: "nobody", ttlMs: LEASE_TTL_MS };
  const lease = await leases.acquire(request);
  if ("heldBy" in lease) return;
  const run = await runs.find(runId);
  if (run?.status === "running") await runs.save(abandoned(run, clock.nowMs()));
  await lease.release();
}

function abandoned(run: SyncRun, nowMs: number): SyncRun {
  const error = "The process that ran it ended; the next run goes on where it stopped";
  const durationMs = Math.max(0, nowMs - dateTimeMs(run.startedAt));
  const ended = { finishedAt: formatMs(nowMs), durationMs };
  return { ...run, status: "failed", ...ended, error };
}

function leaseName(runId: string): string {
  return `sync run ${runId}`;
}

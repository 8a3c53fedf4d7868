// The list of runs. A run whose process has ended is marked as failed when runs
// are listed, or when the next one begins. D-4.9.
import { AppError, refuse } from "../../../domain/shared/errors.ts";
import { LEASE_TTL_MS } from "../../../domain/shared/limits.ts";
import {
  BAD_CURSOR,
  type ListParameters,
  type ListPart,
  listPart,
  requireListQuery,
} from "../../../domain/shared/list-query.ts";
import { dateTimeMs, formatMs } from "../../../domain/shared/time.ts";
import type { KeptRun } from "../../../domain/sync/run/run.ts";
import { runLeaseName } from "../../../repositories/leases.ts";
import { holdLease, type RunLease } from "../shared/hold-lease.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { alertsOfRun } from "./run-alerts.ts";
import { type RunItem, runItem } from "./run-item.ts";

/** Runs that are looked at for abandoned ones; older ones are not still going on. */
const LOOK_BACK_RUNS = 50;
const RUN_CURSOR = /^[\w-]{8,64}$/;

/** Takes the lease that shows that the process of a run lives. */
export function holdRun(deps: SyncDeps, runId: string, stop: AbortSignal): Promise<RunLease> {
  return holdLease(deps, runLeaseName(runId), runId, stop);
}

/** Lists runs as failed that are `running` and whose process has ended. */
export async function endAbandonedRuns(deps: SyncDeps): Promise<void> {
  const runs = await deps.runs.list({ limit: LOOK_BACK_RUNS, beforeId: null });
  for (const { runId, status } of runs) {
    if (status === "running") await endIfAbandoned(deps, runId);
  }
}

/** The same of one run, or dry run. */
export async function endIfAbandoned(
  { leases, runs, alerts, clock }: SyncDeps,
  runId: string,
): Promise<void> {
  // What is no run's id is not asked of the leases either.
  if ((await runs.find(runId))?.status !== "running") return;
  const request = { name: runLeaseName(runId), holder: "list of runs", ttlMs: LEASE_TTL_MS };
  const lease = await leases.acquire(request);
  if ("heldBy" in lease) return;
  const run = await runs.find(runId);
  if (run?.status === "running") {
    const ended = abandonedRun(run, clock.nowMs());
    await runs.save(ended, undefined, alerts?.makeAll(alertsOfRun(ended)));
  }
  await lease.release();
}

function abandonedRun(run: KeptRun, nowMs: number): KeptRun {
  return {
    ...run,
    status: "failed",
    finishedAt: formatMs(nowMs),
    durationMs: Math.max(0, nowMs - dateTimeMs(run.startedAt)),
    error: "The process that ran it ended; the next run continues where it stopped",
  };
}

/** Lists runs, newest first; those whose process has ended have failed. Throws `invalid_request`. */
export async function listRuns(
  deps: SyncDeps,
  parameters: ListParameters,
): Promise<ListPart<RunItem>> {
  const { runs } = deps;
  const { limit, cursor } = requireListQuery(parameters, RUN_CURSOR);
  await endAbandonedRuns(deps);
  const before = cursor === null ? null : await runs.find(cursor);
  if (cursor !== null && (before === null || isDryRun(before))) refuse([BAD_CURSOR]);
  const found = await runs.list({ limit: limit + 1, beforeId: cursor });
  return listPart(found, limit, { toItem: runItem, cursorOf: ({ runId }) => runId });
}

/** One run, or one dry run that goes on. Throws `not_found`. */
export async function findRun(deps: SyncDeps, runId: string): Promise<RunItem> {
  const run = await findKept(deps, runId);
  if (!isDryRun(run) || run.status === "running") return runItem(run);
  throw new AppError("not_found", "It was a dry run, which has ended: nothing is kept of it");
}

/** A run or dry run as it is kept; one whose process has ended has failed. Throws `not_found`. */
export async function findKept(deps: SyncDeps, runId: string): Promise<KeptRun> {
  let run = await deps.runs.find(runId);
  if (run?.status === "running") {
    await endIfAbandoned(deps, runId);
    run = await deps.runs.find(runId);
  }
  if (run !== null) return run;
  throw new AppError("not_found", "No run has this id; only the last 1,000 are kept");
}

function isDryRun(run: KeptRun): boolean {
  return run.kind === "sync" && run.dryRun;
}

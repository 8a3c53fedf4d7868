// Runs as they are kept: listed, watched, cancelled, and marked as failed once their process has ended: when runs are listed, when
// the next one begins, and where alerts are sent also by a look now and then. D-4.9, D-7.8, D-9.5, D-10.12.
import type { Alert } from "../../../domain/alerts/alert.ts";
import { AppError, isAppError, refuse } from "../../../domain/shared/errors.ts";
import {
  CANCEL_LOOK_MS,
  LEASE_TTL_MS,
  MAX_CANCEL_MS,
  MAX_LISTED_RESULTS,
  WATCH_MS,
} from "../../../domain/shared/limits.ts";
import {
  BAD_CURSOR,
  type ListParameters,
  type ListPart,
  requireListQuery,
} from "../../../domain/shared/list-query.ts";
import { dateTimeMs, formatMs } from "../../../domain/shared/time.ts";
import { hasEnded, type News, newsSince } from "../../../domain/sync/run/news.ts";
import {
  type CompareRun,
  isDryRun,
  isListed,
  type ListedRun,
  type StoredRun,
  type SyncRun,
} from "../../../domain/sync/run/run.ts";
import { repeat } from "../../../ports/runtime/runtime.ts";
import { runLeaseName } from "../../../repositories/leases.ts";
import type { ToldRun } from "../../../repositories/runs.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";

/** Runs that are read at once: one of many tables is large. */
const PART_RUNS = 25;
const RUN_CURSOR = /^[\w-]{8,64}$/;
/** Time between two looks of a reader whether the process of a run still lives. */
const ALIVE_LOOK_MS = 2_000;
/** A little more than a lease lasts without its process. */
const ABANDONED_LOOK_MS = 15_000;

/** Keeps an ended run with its alerts; without `news` the kept ones stay. Throws `store_unavailable`. */
export async function saveEnded(
  { runs, alerts }: SyncDeps,
  run: StoredRun,
  news?: readonly News[],
): Promise<void> {
  const made = alertsOf(run).flatMap((alert) => alerts?.make(alert) ?? []);
  await runs.save(run, news, made);
}

/** Marks runs as failed that are `running` though their process has ended. */
export async function endAbandonedRuns(deps: SyncDeps): Promise<void> {
  for (const runId of await deps.runs.running()) await endIfAbandoned(deps, runId);
}

/** Marks abandoned runs as failed, until it is stopped, so that operators are told even where nobody lists runs. */
export function watchAbandonedRuns(deps: SyncDeps): { stop(): void } {
  const { timer, logger } = deps;
  const stopped = new AbortController();
  // Others tell of a store that does not answer.
  const tell = (error: unknown) =>
    logger.debug("Abandoned runs could not be looked for", { problem: String(error) });
  const look = () => endAbandonedRuns(deps).catch(tell);
  void repeat(timer, ABANDONED_LOOK_MS, stopped.signal, look);
  return { stop: () => stopped.abort() };
}

/** As `endAbandonedRuns`, of one run or dry run. */
async function endIfAbandoned(deps: SyncDeps, runId: string): Promise<void> {
  const { leases, runs, clock } = deps;
  // An unknown id must take no lease.
  if ((await runs.find(runId))?.status !== "running") return;
  const request = { name: runLeaseName(runId), holder: "list of runs", ttlMs: LEASE_TTL_MS };
  const lease = await leases.acquire(request);
  if ("heldBy" in lease) return;
  const run = await runs.find(runId);
  if (run?.status === "running") {
    const livedAtMs = Math.min(lease.lastHeldAtMs ?? Number.POSITIVE_INFINITY, clock.nowMs());
    await saveEnded(deps, abandonedRun(run, livedAtMs));
  }
  await lease.release();
}

/** The run as failed at the time when its process last lived. */
function abandonedRun(run: StoredRun, livedAtMs: number): StoredRun {
  const startedAtMs = dateTimeMs(run.startedAt);
  const next = run.kind === "sync" ? "the next run continues where it stopped" : "start it again";
  return {
    ...run,
    status: "failed",
    finishedAt: formatMs(Math.max(startedAtMs, livedAtMs)),
    durationMs: Math.max(0, livedAtMs - startedAtMs),
    error: `The process that ran it ended; ${next}`,
  };
}

/** Stored runs, newest first; with `beforeId` only those before that run. */
export async function* newestRuns(
  { runs }: Pick<SyncDeps, "runs">,
  beforeId: string | null = null,
): AsyncGenerator<ListedRun, void, undefined> {
  for (let part: readonly ListedRun[], last = beforeId; ; last = part.at(-1)?.runId ?? null) {
    part = await runs.list({ limit: PART_RUNS, beforeId: last });
    yield* part;
    if (part.length < PART_RUNS) return;
  }
}

/** Lists runs, newest first. A part also ends where its runs tell of many tables. Throws `invalid_request`. */
export async function listRuns(
  deps: SyncDeps,
  parameters: ListParameters,
): Promise<ListPart<ListedRun>> {
  const { runs } = deps;
  const { limit, cursor } = requireListQuery(parameters, RUN_CURSOR);
  await endAbandonedRuns(deps);
  const before = cursor === null ? null : await runs.find(cursor);
  if (cursor !== null && (before === null || !isListed(before))) refuse([BAD_CURSOR]);
  const items: ListedRun[] = [];
  let results = 0;
  for await (const run of newestRuns(deps, cursor)) {
    const isFull = items.length === limit || results >= MAX_LISTED_RESULTS;
    if (isFull) return { items, nextCursor: items.at(-1)?.runId ?? null };
    items.push(run);
    results += run.kind === "sync" ? Object.keys(run.tables).length : 1;
  }
  return { items, nextCursor: null };
}

/** One run, or one dry run under way. Throws `not_found`. */
export async function findRun(deps: SyncDeps, runId: string): Promise<ListedRun> {
  const run = await findStored(deps, runId);
  if (run.kind === "import") {
    throw new AppError("not_found", "It is an import: only its events can be read");
  }
  if (!isDryRun(run) || run.status === "running") return run;
  throw new AppError("not_found", "It was a dry run, which has ended: nothing is kept of it");
}

/** Throws `not_found`. */
async function findStored(deps: SyncDeps, runId: string): Promise<StoredRun> {
  await endIfAbandoned(deps, runId);
  return (await deps.runs.find(runId)) ?? noRun();
}

function noRun(): never {
  throw new AppError("not_found", "No run has this id; only the last 1,000 are kept");
}

/**
 * Ends a run of any instance before its next write, and resolves once it has ended. `by` names who asked. Throws `not_found`,
 * `conflict` for a run that has ended before, and `sync_failed` when it has not ended within 20 s; it still will.
 */
export async function cancelRun(deps: SyncDeps, runId: string, by: string): Promise<StoredRun> {
  const before = await findStored(deps, runId);
  if (before.status !== "running") {
    throw new AppError("conflict", `The run has ended before, as ${before.status}`);
  }
  await deps.runs.cancel(runId, `Cancelled by ${by}`);
  const askedAtMs = deps.clock.monotonicMs();
  while (deps.clock.monotonicMs() - askedAtMs < MAX_CANCEL_MS) {
    await deps.timer.sleep(CANCEL_LOOK_MS);
    const run = await findStored(deps, runId);
    if (run.status !== "running") return run;
  }
  const text = `The run has not ended within ${MAX_CANCEL_MS / 1000} s; it will before its next write`;
  throw new AppError("sync_failed", text, { hint: "Look at it again" });
}

/**
 * The news of a run of another instance: those kept so far put together, then each at most 1 s late. Ends with the run, when its
 * process has ended, and once `stopping` is aborted. Throws `not_found` before the first.
 */
export async function followRun(
  deps: SyncDeps,
  runId: string,
  stopping: AbortSignal,
): Promise<AsyncGenerator<News, void, undefined>> {
  await endIfAbandoned(deps, runId);
  const told = await deps.runs.findTold(runId);
  return told === null ? noRun() : follow(deps, told, stopping);
}

async function* follow(
  deps: SyncDeps,
  first: ToldRun,
  stopping: AbortSignal,
): AsyncGenerator<News, void, undefined> {
  const { clock, timer, runs, logger } = deps;
  const { runId } = first.run;
  let told: readonly News[] = [];
  let livedAtMs = clock.monotonicMs();
  for (let now: ToldRun | null = first; now !== null; ) {
    yield* newsSince(told, now.news);
    told = now.news;
    if (hasEnded(told)) return;
    if (now.run.status !== "running") return yield* endOf(now.run);
    await timer.sleep(WATCH_MS, stopping);
    if (stopping.aborted) return;
    const isDue = clock.monotonicMs() - livedAtMs >= ALIVE_LOOK_MS;
    if (isDue) livedAtMs = clock.monotonicMs();
    try {
      if (isDue) await endIfAbandoned(deps, runId);
      now = await runs.findTold(runId);
    } catch (error) {
      if (!isAppError(error) || !error.isRecoverable) throw error;
      logger.error("A run that is watched could not be read", error, { run_id: runId });
    }
  }
}

/** The last news of a run whose process ended before it told them. */
function* endOf(run: StoredRun): Generator<News, void, undefined> {
  if (run.error !== undefined && run.kind === "sync") {
    const table = Object.keys(run.tables).at(-1) ?? "?";
    const direction = run.direction === "pull" ? "pull" : "push";
    yield { type: "error", table, direction, error: run.error };
  } else if (run.error !== undefined && run.kind !== "sync") {
    const result = run.kind === "import" ? { result: null } : {};
    yield { type: "error", table: run.table, error: run.error, ...result };
  }
  yield { type: "finished" };
}

/** The alerts of an ended run; none of a dry run, which somebody watches. */
function alertsOf(run: StoredRun): readonly Alert[] {
  if (!isListed(run)) return [];
  const { status } = run;
  const ended: readonly Alert[] =
    status === "failed" || status === "partial" ? [{ type: `run.${status}`, run }] : [];
  return [...ended, ...(run.kind === "compare" ? foundAlerts(run) : rejectedAlerts(run))];
}

function rejectedAlerts({ runId, tables }: SyncRun): readonly Alert[] {
  const rejected = Object.entries(tables).flatMap(([name, { errorCount }]) =>
    errorCount > 0 ? [[name, errorCount] as const] : [],
  );
  if (rejected.length === 0) return [];
  return [{ type: "records.rejected", runId, tables: Object.fromEntries(rejected) }];
}

/** Differences that a scheduled comparison found, repaired or not; the result of any other comparison has a reader. */
function foundAlerts(run: CompareRun): readonly Alert[] {
  const { trigger, status, table, matched, different, missingHere, missingThere } = run;
  if (trigger !== "schedule" || status !== "success") return [];
  if (different + missingHere + missingThere === 0) return [];
  const countHere = matched + different + missingThere;
  const countThere = matched + different + missingHere;
  return [{ type: "drift.found", table, countHere, countThere }];
}

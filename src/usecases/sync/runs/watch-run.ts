// What any run or comparison tells, whichever instance it is on. D-9.5.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { WATCH_MS } from "../../../domain/shared/limits.ts";
import { isWhole, type News, newsSince } from "../../../domain/sync/run/news.ts";
import type { KeptRun } from "../../../domain/sync/run/run.ts";
import type { ToldRun } from "../../../repositories/runs.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import type { ActiveRuns } from "./active-runs.ts";
import { endIfAbandoned } from "./sync-lists.ts";

/** How often is looked whether the process of a run has ended. */
const LIVES_MS = 2_000;

interface WatchDeps {
  readonly sync: SyncDeps;
  readonly activeRuns: Pick<ActiveRuns, "find" | "stopping">;
}

/**
 * The news of a run, a dry run or a comparison: what it told so far put together, then as it comes, at most 1 s late when
 * it is on another instance. Ends with it, when its process has ended, and when the service stops. Throws `not_found` before
 * the first.
 */
export async function watchRun(
  deps: WatchDeps,
  runId: string,
): Promise<AsyncGenerator<News, void, undefined>> {
  const here = deps.activeRuns.find(runId);
  if (here !== null) return here.news();
  await endIfAbandoned(deps.sync, runId);
  const told = await deps.sync.runs.findTold(runId);
  if (told !== null) return follow(deps, told);
  throw new AppError("not_found", "No run has this id; only the last 1,000 are kept");
}

async function* follow(
  { sync, activeRuns: { stopping } }: WatchDeps,
  first: ToldRun,
): AsyncGenerator<News, void, undefined> {
  const { clock, timer } = sync;
  const { runId } = first.run;
  let told: readonly News[] = [];
  let livedAtMs = clock.monotonicMs();
  for (let now: ToldRun | null = first; now !== null; ) {
    yield* newsSince(told, now.news);
    told = now.news;
    if (isWhole(told)) return;
    if (now.run.status !== "running") return yield* endOf(now.run);
    await timer.sleep(WATCH_MS, stopping);
    if (stopping.aborted) return;
    const isDue = clock.monotonicMs() - livedAtMs >= LIVES_MS;
    if (isDue) livedAtMs = clock.monotonicMs();
    now = await look(sync, runId, isDue, now);
  }
}

/** What is kept of a run by now; the same as before while the store does not answer. */
async function look(
  sync: SyncDeps,
  runId: string,
  isDue: boolean,
  before: ToldRun,
): Promise<ToldRun | null> {
  try {
    if (isDue) await endIfAbandoned(sync, runId);
    return await sync.runs.findTold(runId);
  } catch (error) {
    if (!isAppError(error, "store_unavailable")) throw error;
    sync.logger.error("A run that is watched could not be read", error, { run_id: runId });
    return before;
  }
}

/** The end of a run that did not tell its own, as its process ended, or was of an earlier version. */
function* endOf(run: KeptRun): Generator<News, void, undefined> {
  const { error } = run;
  if (error !== undefined && run.kind === "compare") {
    yield { type: "error", table: run.table, error };
  } else if (error !== undefined && run.kind === "sync") {
    const table = Object.keys(run.tables).at(-1) ?? "?";
    const direction = run.direction === "pull" ? "pull" : "push";
    yield { type: "error", table, direction, error };
  }
  yield { type: "finished" };
}

// A run, top to bottom: each table in turn, each of its directions in turn (`moveTable`), and what is kept of it.
import { AppError } from "../../../domain/shared/errors.ts";
import type { RunEvent, RunNews, RunRequest, SyncRun } from "../../../domain/sync/run/run.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import type { Logger } from "../../../ports/runtime/logger.ts";
import type { Span } from "../../../ports/runtime/tracing.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import type { RunContext } from "../shared/run-context.ts";
import { openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { followCancellation } from "./cancel-run.ts";
import { keepResult, NewsKeeper } from "./keep-news.ts";
import { moveTable } from "./move-table.ts";
import { RunProgress } from "./run-progress.ts";
import { endAbandonedRuns, holdRun } from "./sync-lists.ts";
import { tellDrift } from "./tell-drift.ts";

export interface RunOutcome {
  readonly run: SyncRun;
  /** `sync_misconfigured` or `sync_failed`; null unless the run failed. */
  readonly error: AppError | null;
}

/** A run; it goes on to its end whether or not its events are read. S-4.4, S-4.5, D-4. */
export class StartedRun {
  readonly runId: string;
  /** Never rejects. */
  readonly outcome: Promise<RunOutcome>;
  readonly #progress: RunProgress;
  readonly #stopping = new AbortController();

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome and an event. */
  constructor(deps: SyncDeps, request: RunRequest) {
    const { registry, ids } = deps;
    const { tableName } = request;
    if (request.isForced === true && request.direction === "both") {
      const text =
        "Only a push or a pull can be forced: with both, each end would overwrite the other";
      throw new AppError("invalid_request", text);
    }
    const tables = tableName === null ? [...registry.values()] : [findTable(registry, tableName)];
    const progress = new RunProgress(deps, ids.next(), request);
    this.runId = progress.runId;
    this.#progress = progress;
    const { signal } = this.#stopping;
    const ended = new AbortController();
    this.outcome = tracedRun(progress, () => runTables(progress, tables, signal)).finally(() => {
      ended.abort();
      progress.end();
    });
    const cancel = (reason: AppError) => this.#stopping.abort(reason);
    void deps.tracing.detached(() =>
      followCancellation(progress.deps, this.runId, ended.signal, cancel),
    );
  }

  /** The events from the first on, for any number of readers; a slow one gets batches put together. S-6, D-4.4. */
  async *events(): AsyncGenerator<RunEvent, void, undefined> {
    for await (const news of this.news()) if (news.type !== "retry") yield news;
  }

  /** The events, and retries when they happen. D-7.11. */
  news(): AsyncGenerator<RunNews, void, undefined> {
    return this.#progress.feed.read();
  }

  /**
   * The run as it is, once every instance can read it. Throws what kept it from beginning: `sync_misconfigured`,
   * `sync_failed`. D-9.5.
   */
  async begun(): Promise<SyncRun> {
    const ended = await Promise.race([this.#progress.begun.then(() => null), this.outcome]);
    if (ended === null) return this.#progress.running();
    if (ended.error !== null) throw ended.error;
    return ended.run;
  }

  /** The run as it is now. */
  soFar(): SyncRun {
    return this.#progress.running();
  }

  /** Ends the run before its next write, as failed, with a reason for its `error`. */
  stop(reason = "The run was stopped; run it again to continue"): void {
    this.#stopping.abort(new AppError("sync_failed", reason));
  }
}

/** In a trace of its own, or in that of the request that asked for it. D-10.9. */
async function tracedRun(
  { deps, runId, request }: RunProgress,
  work: () => Promise<RunOutcome>,
): Promise<RunOutcome> {
  const { direction, trigger, isDryRun } = request;
  const fields = {
    "repsync.run_id": runId,
    "repsync.direction": direction,
    "repsync.trigger": trigger,
    "repsync.dry_run": isDryRun,
  };
  const run = async (span: Span) => {
    const outcome = await work();
    span.set({ "repsync.status": outcome.run.status });
    if (outcome.error !== null) span.fail(outcome.error.kind);
    return outcome;
  };
  return await deps.tracing.inSpan("syncRun", run, { fields });
}

/** Does a whole run, which is kept from its start; a dry run is in no list. D-4.3, D-4.9, D-4.11. */
async function runTables(
  progress: RunProgress,
  tables: readonly Table[],
  stop: AbortSignal,
): Promise<RunOutcome> {
  const { deps, runId } = progress;
  const run = openRun(progress, stop);
  if (run === null) return { run: progress.finished(), error: progress.error };
  let lease: RunLease | null = null;
  let keeper: NewsKeeper<RunNews> | null = null;
  try {
    lease = await holdRun(deps, runId, stop);
    await endAbandonedRuns(deps);
    const { feed } = progress;
    keeper = await NewsKeeper.begin(deps, { feed, describe: () => progress.running() });
    progress.tellBegun();
    if (run.isFull && !run.isDryRun) await clearMarkers(deps, tables);
    let isHopeless = false;
    const begun: Table[] = [];
    for (const table of tables) {
      if (isHopeless) break;
      begun.push(table);
      isHopeless = !(await moveTable(run, progress, table));
    }
    if (!run.isDryRun && !isHopeless) await tellDrift(run, progress, begun);
  } catch (error) {
    progress.fail(error);
  }
  const finished = progress.finished();
  if (keeper !== null) await keeper.end(finished);
  else if (!run.isDryRun) await keepResult(deps, finished, progress.feed.told());
  await lease?.release();
  logEnd(deps.logger, finished);
  return { run: finished, error: progress.error };
}

/** Null when the configuration names no remote that can be used: then nothing is done, and nothing listed. S-4.4.5. */
function openRun(progress: RunProgress, stop: AbortSignal): RunContext | null {
  const { deps, request } = progress;
  try {
    return {
      runId: progress.runId,
      deps,
      remote: openRemote(deps),
      directions: progress.directions,
      isFull: request.isFull,
      isForced: request.isForced ?? false,
      maxDeletes: request.maxDeletes ?? null,
      isDryRun: request.isDryRun,
      startedAt: progress.startedAt,
      stop,
      publish: (news) => progress.feed.publish(news),
    };
  } catch (error) {
    progress.fail(error);
    return null;
  }
}

async function clearMarkers(deps: SyncDeps, tables: readonly Table[]): Promise<void> {
  const names = tables.map(({ name }) => name);
  await deps.memory.clear(names);
  await deps.exchanged.clear(names);
}

function logEnd(logger: Logger, run: SyncRun): void {
  logger.info("Sync run finished", {
    status: run.status,
    trigger: run.trigger,
    direction: run.direction,
    dry_run: run.dryRun,
    total_pushed: run.totalPushed,
    total_pulled: run.totalPulled,
    error_count: run.errorCount,
    duration_ms: run.durationMs,
  });
}

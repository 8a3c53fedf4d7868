// A run, top to bottom: what it is asked for, each table in turn (`moveTables`), and its end.
import { AppError } from "../../../domain/shared/errors.ts";
import type { RunNews, RunRequest, SyncRun } from "../../../domain/sync/run/run.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { moveTables } from "./move-tables.ts";
import { RunEvents } from "./run-events.ts";
import { RunProgress } from "./run-progress.ts";

export interface RunOutcome {
  readonly run: SyncRun;
  /** `sync_misconfigured` or `sync_failed`; null unless the run failed. */
  readonly error: AppError | null;
}

/** A run; it goes on to its end whether or not its news are read. S-4.4, S-4.5, D-4. */
export class StartedRun {
  readonly runId: string;
  /** Never rejects. */
  readonly outcome: Promise<RunOutcome>;
  readonly #events: RunEvents<RunNews>;
  readonly #progress: RunProgress;

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome and an event. */
  constructor(deps: SyncDeps, request: RunRequest) {
    const { registry } = deps;
    const { tableName, direction, trigger, isDryRun } = request;
    if (request.isForced === true && direction === "both") {
      const text =
        "Only a push or a pull can be forced: with both, each end would overwrite the other";
      throw new AppError("invalid_request", text);
    }
    const tables = tableName === null ? [...registry.values()] : [findTable(registry, tableName)];
    const events = new RunEvents<RunNews>(deps);
    const progress = new RunProgress(events, request);
    this.runId = events.runId;
    this.#events = events;
    this.#progress = progress;
    const fields = {
      "repsync.direction": direction,
      "repsync.trigger": trigger,
      "repsync.dry_run": isDryRun,
    };
    this.outcome = events.traced("syncRun", fields, async (span) => {
      const outcome = await runTables(progress, tables);
      span.set({ "repsync.status": outcome.run.status });
      return outcome;
    });
  }

  /** Its events from the first on, and retries when they happen, for any number of readers. S-6, D-4.4, D-7.11. */
  news(): AsyncGenerator<RunNews, void, undefined> {
    return this.#events.read();
  }

  /**
   * The run as it is, once every instance can read it. Throws what kept it from beginning: `sync_misconfigured`,
   * `sync_failed`. D-9.5.
   */
  async begun(): Promise<SyncRun> {
    const ended = await Promise.race([this.#events.begun, this.outcome]);
    if (ended === undefined) return this.soFar();
    if (ended.error !== null) throw ended.error;
    return ended.run;
  }

  /** The run as it is now. */
  soFar(): SyncRun {
    return this.#progress.running();
  }

  /** Ends the run before its next write, as failed, with a reason for its `error`. */
  stop(reason: string | null = null): void {
    if (reason === null) this.#events.stop("The run was stopped", "Run it again to continue");
    else this.#events.stop(reason);
  }
}

/** Does a whole run, which is kept from its start; a dry run is in no list. D-4.3, D-4.9, D-4.11. */
async function runTables(progress: RunProgress, tables: readonly Table[]): Promise<RunOutcome> {
  const { events, request, directions } = progress;
  const { isFull, isDryRun, isForced = false, maxDeletes = null } = request;
  const publish = (news: RunNews) => events.publish(news);
  const plan = { directions, isFull, isForced, maxDeletes, isDryRun, publish };
  const run = await events.kept(progress, plan, async (context) => {
    if (isFull && !isDryRun) await clearMarkers(context.deps, tables);
    await moveTables(context, progress, tables);
  });
  logEnd(events.deps.logger, run);
  return { run, error: progress.error };
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
    dry_run: run.dryRun === true,
    total_pushed: run.totalPushed,
    total_pulled: run.totalPulled,
    error_count: run.errorCount,
    duration_ms: run.durationMs,
  });
}

// A run, top to bottom: what it is asked for, each table in turn (`moveTables`), and its end.
import { AppError } from "../../../domain/shared/errors.ts";
import type { RunNews, RunRequest, SyncRun } from "../../../domain/sync/run/run.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import { openRun } from "../shared/run-context.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { moveTables } from "./move-tables.ts";
import { RunProgress } from "./run-progress.ts";

export interface RunOutcome {
  readonly run: SyncRun;
  /** `sync_misconfigured` or `sync_failed`; null unless the run failed. */
  readonly error: AppError | null;
}

/** A run; it goes on to its end whether or not its news are read. S-4.4, S-4.5, D-4. */
export class StartedRun extends RunProgress {
  /** Never rejects. */
  readonly outcome: Promise<RunOutcome>;

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome and an event. */
  constructor(deps: SyncDeps, request: RunRequest) {
    if (request.isForced === true && request.direction === "both") {
      const text =
        "Only a push or a pull can be forced: with both, each end would overwrite the other";
      throw new AppError("invalid_request", text);
    }
    const { tableName } = request;
    const { registry } = deps;
    const tables = tableName === null ? [...registry.values()] : [findTable(registry, tableName)];
    super(deps, request);
    this.outcome = this.#run(tables);
  }

  /** Does a whole run, which is kept from its start; a dry run is in no list. D-4.3, D-4.9, D-4.11. */
  async #run(tables: readonly Table[]): Promise<RunOutcome> {
    const { request, directions, runId, deps, stopping: stop } = this;
    const { direction, trigger, isFull, isDryRun } = request;
    const publish = (news: RunNews) => this.publish(news);
    const run = await this.perform({
      name: "syncRun",
      fields: {
        "repsync.direction": direction,
        "repsync.trigger": trigger,
        "repsync.dry_run": isDryRun,
      },
      isMeant: !isDryRun,
      open: () => openRun({ ...request, directions, runId, deps, stop, publish }),
      do: async (context) => {
        if (isFull && !isDryRun) {
          const names = tables.map(({ name }) => name);
          await deps.memory.clear(names);
          await deps.exchanged.clear(names);
        }
        await moveTables(context, this, tables);
      },
    });
    if (!isDryRun) deps.metrics?.countRun(run);
    deps.logger.info("Sync run finished", {
      status: run.status,
      trigger,
      direction,
      dry_run: isDryRun,
      total_pushed: run.totalPushed,
      total_pulled: run.totalPulled,
      error_count: run.errorCount,
      duration_ms: run.durationMs,
    });
    return { run, error: this.error };
  }

  /**
   * The run as it is, once every instance can read it. Throws what kept it from beginning: `sync_misconfigured`,
   * `sync_failed`. D-9.5.
   */
  async begun(): Promise<SyncRun> {
    const ended = await Promise.race([this.whenBegun, this.outcome]);
    if (ended === undefined) return this.describe("running");
    if (ended.error !== null) throw ended.error;
    return ended.run;
  }
}

// The runs, comparisons and imports of this process: started on request or on a schedule, counted, watched, and ended when the
// service stops. D-1.3.10, D-7.5.
import { AppError } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { News } from "../../../domain/sync/run/news.ts";
import type { CompareRepair, RunRequest } from "../../../domain/sync/run/run.ts";
import type { Registry } from "../../../domain/sync/table/table.ts";
import type { FileFormats } from "../../../ports/files.ts";
import { type Ids, within } from "../../../ports/runtime/runtime.ts";
import { isDue, type ScheduleDeps } from "../../../repositories/kept-values.ts";
import { type LeaseDeps, tryLease } from "../shared/hold-lease.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { type CompareRequest, StartedComparison } from "./start-comparison.ts";
import { type ImportRequest, StartedImport } from "./start-import.ts";
import { StartedRun } from "./start-run.ts";
import { followRun } from "./stored-runs.ts";

type ActiveRun = StartedRun | StartedComparison | StartedImport;

export class ActiveRuns {
  readonly #deps: SyncDeps;
  readonly #active = new Set<ActiveRun>();
  readonly #stopping = new AbortController();

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** Starts a run. Throws `unknown_table` and `invalid_request`, and `sync_failed` once the service stops. */
  start(request: RunRequest): StartedRun {
    const run = this.#follow(() => new StartedRun(this.#deps, request));
    const { trigger, direction, tableName: table, isFull: full, isDryRun } = request;
    const about = { trigger, direction, table, full, dry_run: isDryRun };
    this.#deps.logger.info("Sync run started", { run_id: run.runId, ...about });
    return run;
  }

  /** Starts a comparison. Throws as `start`. */
  compare(request: CompareRequest): StartedComparison {
    return this.#follow(() => new StartedComparison(this.#deps, request));
  }

  /** Starts an import. Throws as `start`, and `conflict`. */
  import(files: FileFormats, request: ImportRequest): StartedImport {
    return this.#follow(() => new StartedImport({ ...this.#deps, files }, request));
  }

  /**
   * The news of a run, a comparison or an import on any instance: those so far put together, then each as it comes. Ends with the
   * run, and when the service stops. Throws `not_found` before the first. D-9.5.
   */
  async watch(runId: string): Promise<AsyncGenerator<News, void, undefined>> {
    for (const run of this.#active) if (run.runId === runId) return run.news();
    return await followRun(this.#deps, runId, this.stopping);
  }

  /** Aborted, with an `AppError`, once the service stops. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Runs, comparisons and imports under way. */
  count(): number {
    return this.#active.size;
  }

  /** Ends all before their next write, and lets none begin. Resolves when all have ended, or after `graceMs`. Idempotent. */
  async stop(graceMs: number): Promise<void> {
    const waits = { hint: "Start the run again later", isRecoverable: true };
    this.#stopping.abort(new AppError("sync_failed", "The service is stopping", waits));
    const active = [...this.#active];
    for (const run of active) run.stop();
    await within(this.#deps.timer, graceMs, Promise.all(active.map(({ outcome }) => outcome)));
  }

  #follow<Started extends ActiveRun>(start: () => Started): Started {
    this.stopping.throwIfAborted();
    const started = start();
    this.#active.add(started);
    void started.outcome.then(() => this.#active.delete(started));
    return started;
  }
}

interface ScheduledRunsDeps extends Omit<LeaseDeps, "clock">, ScheduleDeps {
  readonly activeRuns: {
    start(request: RunRequest): Pick<StartedRun, "outcome">;
    compare(request: CompareRequest): Pick<StartedComparison, "outcome">;
  };
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
      // The registry may have lost the table while the ones before were compared.
      if (!deps.registry.has(tableName)) continue;
      const problem = deps.registry.stopped?.get(tableName);
      if (problem === undefined) {
        await deps.activeRuns.compare({ tableName, repair, trigger: "schedule" }).outcome;
      } else deps.logger.error(`Table not compared: ${problem}`, undefined);
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
      const taken = await tryLease(deps, leaseName, holder, new AbortController().signal);
      if ("heldBy" in taken) {
        logger.info(`Scheduled ${name} skipped: another instance is running it`);
        return;
      }
      await using _lease = taken;
      if (!(await isDue(deps, lastTime, cronText))) {
        logger.info(`Scheduled ${name} skipped: another instance has run it`);
        return;
      }
      await deps.scheduleTimes.keep(lastTime, formatMs(deps.clock.nowMs()));
      await run();
    } catch (error) {
      logger.error(`Scheduled ${name} could not begin`, error);
    }
  });
}

// The runs, comparisons and imports of this process: counted, watched, and ended when the service stops.
import { AppError } from "../../../domain/shared/errors.ts";
import type { News } from "../../../domain/sync/run/news.ts";
import type { RunRequest } from "../../../domain/sync/run/run.ts";
import type { FileFormats } from "../../../ports/files.ts";
import { within } from "../../../ports/runtime/runtime.ts";
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

// The runs and comparisons of this process: counted, watched, and ended when the service stops.
import { AppError } from "../../../domain/shared/errors.ts";
import type { News } from "../../../domain/sync/run/news.ts";
import type { RunNews, RunRequest } from "../../../domain/sync/run/run.ts";
import type { FileFormats } from "../../../ports/files.ts";
import type { Metrics, TransferCounts } from "../../../ports/runtime/metrics.ts";
import type { TransferredBytes } from "../../../ports/tables/remote-peer.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { followRun } from "./run-events.ts";
import { type CompareRequest, StartedComparison } from "./start-comparison.ts";
import { type ImportRequest, StartedImport } from "./start-import.ts";
import { StartedRun } from "./start-run.ts";

export class ActiveRuns {
  readonly #deps: SyncDeps;
  readonly #metrics: Metrics;
  readonly #active = new Map<StartedRun | StartedComparison | StartedImport, Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(deps: SyncDeps, metrics: Metrics) {
    this.#deps = deps;
    this.#metrics = metrics;
  }

  /** Starts a run. Throws `unknown_table`, and `sync_failed` once the service stops. */
  start(request: RunRequest): StartedRun {
    this.#refuseWhenStopping();
    const run = new StartedRun(this.#deps, request);
    this.#deps.logger.info("Sync run started", {
      run_id: run.runId,
      trigger: request.trigger,
      direction: request.direction,
      table: request.tableName,
      full: request.isFull,
      dry_run: request.isDryRun,
    });
    this.#active.set(run, this.#follow(run, request.isDryRun));
    return run;
  }

  /** Starts a comparison. Throws as `start`. */
  compare(request: CompareRequest): StartedComparison {
    this.#refuseWhenStopping();
    const comparison = new StartedComparison(this.#deps, request);
    const ended = comparison.outcome.then(() => this.#active.delete(comparison));
    this.#active.set(comparison, ended);
    return comparison;
  }

  /** Starts an import. Throws as `start`, and `invalid_request` and `conflict`. */
  import(files: FileFormats, request: ImportRequest): StartedImport {
    this.#refuseWhenStopping();
    const started = new StartedImport({ ...this.#deps, files }, request);
    const ended = started.ended.finally(() => this.#active.delete(started));
    this.#active.set(started, ended);
    return started;
  }

  /**
   * The news of a run, a dry run, a comparison or an import, whichever instance it is on: what it told so far put together, then as it comes.
   * Ends with it, and when the service stops. Throws `not_found` before the first. D-9.5.
   */
  async watch(runId: string): Promise<AsyncGenerator<News, void, undefined>> {
    for (const run of this.#active.keys()) if (run.runId === runId) return run.news();
    return await followRun(this.#deps, runId, this.stopping);
  }

  /** Aborted, with an `AppError`, once the service stops. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Runs and comparisons under way. */
  count(): number {
    return this.#active.size;
  }

  /**
   * Ends every run and comparison before its next write and lets none begin. Resolves when all have ended, or after `graceMs`.
   * Idempotent.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort(stoppingError());
    for (const run of this.#active.keys()) run.stop();
    const ended = new AbortController();
    const all = Promise.all(this.#active.values()).then(() => ended.abort());
    await Promise.race([all, this.#deps.timer.sleep(graceMs, ended.signal)]);
  }

  #refuseWhenStopping(): void {
    if (!this.stopping.aborted) return;
    throw stoppingError();
  }

  /** Counts what a run moves, to its end. Never rejects. */
  async #follow(run: StartedRun, isDryRun: boolean): Promise<void> {
    try {
      const counting = isDryRun ? null : countMoved(this.#metrics, run);
      const outcome = await run.outcome;
      await counting;
      if (!isDryRun) this.#metrics.countRun(outcome.run);
    } catch (error) {
      this.#deps.logger.error("Sync run could not be counted", error, { run_id: run.runId });
    } finally {
      this.#active.delete(run);
    }
  }
}

function stoppingError(): AppError {
  return new AppError("sync_failed", "The service is stopping", {
    hint: "Start the run again later",
    isRecoverable: true,
  });
}

const NO_BYTES: TransferredBytes = { bytesCompressed: 0, bytesUncompressed: 0 };

async function countMoved(metrics: Metrics, run: StartedRun): Promise<void> {
  let counted = NO_BYTES;
  for await (const event of run.news()) {
    // Reset here and not at the end of a transfer: one that fails ends without a `done` event.
    if (event.type === "start") counted = NO_BYTES;
    const moved = movedBy(event, counted);
    if (moved === null) continue;
    metrics.countMoved(moved);
    counted = {
      bytesCompressed: counted.bytesCompressed + moved.bytesCompressed,
      bytesUncompressed: counted.bytesUncompressed + moved.bytesUncompressed,
    };
  }
}

/** What an event adds to the counts; null for news without rows and bytes. `counted` are its transfer's bytes so far. */
function movedBy(event: RunNews, counted: TransferredBytes): TransferCounts | null {
  if (event.type !== "batch" && event.type !== "done") return null;
  const isBatch = event.type === "batch";
  // A batch shows its own bytes, the end of a transfer those of all of it.
  const shown = isBatch ? NO_BYTES : counted;
  return {
    table: event.table,
    direction: event.direction,
    rows: isBatch ? event.upserted : 0,
    rejected: isBatch ? event.errorCount : 0,
    bytesCompressed: event.bytesCompressed - shown.bytesCompressed,
    bytesUncompressed: event.bytesUncompressed - shown.bytesUncompressed,
  };
}

// The runs of this process: counted, and ended when the service stops.
import { AppError } from "../../../domain/shared/errors.ts";
import type { RunEvent } from "../../../domain/sync/run/run.ts";
import type { Metrics, MovedRows } from "../../../ports/http/metrics.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { type RunRequest, type StartedRun, startRun } from "./start-run.ts";

/** Starts runs and knows those that have not ended. */
export interface ActiveRuns {
  /** Starts a run. Throws `unknown_table`, and `sync_failed` once the service stops. */
  start(request: RunRequest): StartedRun;

  /** Runs that have not ended. */
  count(): number;

  /**
   * Ends every run before its next write and lets none begin. Resolves when all have ended, or after `graceMs`.
   * Idempotent.
   */
  stop(graceMs: number): Promise<void>;
}

/** Keeps the runs of one process. */
export function createActiveRuns(deps: SyncDeps, metrics: Metrics): ActiveRuns {
  const { timer, logger } = deps;
  const active = new Map<StartedRun, Promise<unknown>>();
  let isStopping = false;

  /** Never rejects. */
  async function follow(run: StartedRun, { isDryRun }: RunRequest): Promise<void> {
    try {
      const counting = isDryRun ? null : countMoved(metrics, run);
      const outcome = await run.outcome;
      await counting;
      if (!isDryRun) metrics.countRun(outcome.run);
    } catch (error) {
      logger.error("Sync run could not be counted", error, { run_id: run.runId });
    } finally {
      active.delete(run);
    }
  }

  return {
    start(request) {
      if (isStopping) {
        throw new AppError("sync_failed", "The service is stopping; start the run again later");
      }
      const run = startRun(deps, request);
      const { trigger, direction, tableName: table, isFull: full, isDryRun: dry_run } = request;
      const fields = { run_id: run.runId, trigger, direction, table, full, dry_run };
      logger.info("Sync run started", fields);
      active.set(run, follow(run, request));
      return run;
    },
    count: () => active.size,
    async stop(graceMs) {
      isStopping = true;
      for (const run of active.keys()) run.stop();
      const ended = new AbortController();
      const all = Promise.all(active.values()).then(() => ended.abort());
      await Promise.race([all, timer.sleep(graceMs, ended.signal)]);
    },
  };
}

/** Bytes of a transfer that have been counted. */
interface ShownBytes {
  readonly compressed: number;
  readonly uncompressed: number;
}

const NOTHING_SHOWN: ShownBytes = { compressed: 0, uncompressed: 0 };

/** Counts while the run goes on. */
async function countMoved(metrics: Metrics, run: StartedRun): Promise<void> {
  let shown = NOTHING_SHOWN;
  for await (const event of run.events()) {
    // Not with the end of a transfer: one that fails ends without telling its bytes.
    if (event.type === "start") shown = NOTHING_SHOWN;
    const moved = movedBy(event, shown);
    if (moved === null) continue;
    metrics.countMoved(moved);
    const { bytesCompressed, bytesUncompressed } = moved;
    shown = {
      compressed: shown.compressed + bytesCompressed,
      uncompressed: shown.uncompressed + bytesUncompressed,
    };
  }
}

/** What an event tells that those before it did not; null for none. `shown` are the bytes of its transfer so far. */
function movedBy(event: RunEvent, shown: ShownBytes): MovedRows | null {
  if (event.type !== "batch" && event.type !== "done") return null;
  const { table, direction, bytesCompressed, bytesUncompressed } = event;
  if (event.type === "batch") {
    return {
      ...{ table, direction, rows: event.upserted, refused: event.errorCount },
      bytesCompressed,
      bytesUncompressed,
    };
  }
  return {
    ...{ table, direction, rows: 0, refused: 0 },
    bytesCompressed: bytesCompressed - shown.compressed,
    bytesUncompressed: bytesUncompressed - shown.uncompressed,
  };
}

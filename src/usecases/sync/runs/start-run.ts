import { AppError } from "../../../domain/shared/errors.ts";
import { SYNC_DIRECTIONS } from "../../../domain/sync/run/marker.ts";
import type { RunDirection, RunEvent, RunTrigger } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { findTable } from "../pages/pull-page.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { startRunFeed } from "./run-feed.ts";
import { type RunOutcome, runSync, type SyncProblem } from "./run-sync.ts";

/** What to sync. S-2.6, D-4.11. */
export interface RunRequest {
  readonly direction: RunDirection;
  /** Null for every table of the registry. */
  readonly tableName: string | null;
  /** Clears the markers first and moves every row. */
  readonly isFull: boolean;
  /** Counts what would move; writes and clears nothing. */
  readonly isDryRun: boolean;
  readonly trigger: RunTrigger;
}

/** A run that goes on to its end, whoever reads. */
export interface StartedRun {
  readonly runId: string;
  /** Never rejects. */
  readonly outcome: Promise<RunOutcome>;
  /** The events from the first on, for any number of readers; a slow one gets batches put together. S-6, D-4.4. */
  events(): AsyncGenerator<RunEvent, void, undefined>;
  /** Ends the run before its next write, as failed: for a service that stops. */
  stop(): void;
}

/** Starts a run. Throws `unknown_table`; every other failure is its outcome and an event. S-4.4, S-4.5, D-4. */
export function startRun(deps: SyncDeps, request: RunRequest): StartedRun {
  const { tableName } = request;
  const tables: readonly Table[] =
    tableName === null ? [...deps.registry.values()] : [findTable(deps.registry, tableName)];
  const runId = deps.ids.next();
  const feed = startRunFeed();
  const stopping = new AbortController();
  const directions = request.direction === "both" ? SYNC_DIRECTIONS : [request.direction];
  const job = { ...request, runId, tables, directions, stop: stopping.signal };
  const publishProblem = ({ error, ...subject }: SyncProblem) =>
    feed.publish({
      type: "error",
      table: subject.table ?? tableName ?? "?",
      direction: subject.direction ?? directions[0] ?? "push",
      error: error.message,
    });

  async function run(): Promise<RunOutcome> {
    try {
      return await runSync(deps, { ...job, publish: feed.publish, publishProblem });
    } finally {
      feed.publish({ type: "finished" });
      feed.close();
    }
  }

  return {
    runId,
    outcome: run(),
    events: () => feed.read(),
    stop: () =>
      stopping.abort(new AppError("sync_failed", "The run was stopped; run it again to go on")),
  };
}

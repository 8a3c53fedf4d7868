import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { RunNews } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { LogFields, Logger } from "../../../ports/runtime/logger.ts";
import type { RemoteCalls } from "./call-remote.ts";
import type { Remote, SyncDeps } from "./sync-deps.ts";

/** What is wanted of a run, or of the comparison of a table. */
export interface RunPlan {
  /** Every table begins at its first row, whatever the markers say. S-4.4.2. */
  readonly isFull: boolean;
  /** The directions in which each table moves, one after the other; none in a comparison. */
  readonly directions: readonly SyncDirection[];
  /** Newer rows are overwritten. D-7.1. */
  readonly isForced: boolean;
  /** Rows that it may delete of each table at an end; null for the table's own limit. D-7.6. */
  readonly maxDeletes: number | null;
  /** Rows are counted; nothing is written. D-4.11. */
  readonly isDryRun: boolean;
  publish(news: RunNews): void;
}

/** One run, or the comparison of a table: what all its parts work with. It is passed on as it is. */
export interface RunContext extends RunPlan {
  readonly runId: string;
  /** Their logger names the run in every line. */
  readonly deps: SyncDeps;
  readonly remote: Remote;
  readonly startedAt: string;
  /** Aborted, with an `AppError`, to end the run from outside. */
  readonly stop: AbortSignal;
}

/** A table at the remote, and the way to ask for it. */
export interface RemoteTable {
  readonly run: RunContext;
  readonly table: Table;
  readonly calls: RemoteCalls;
}

/** The same dependencies with a logger whose lines all say which run they belong to. */
export function depsOfRun(deps: SyncDeps, runId: string): SyncDeps {
  return { ...deps, logger: runLogger(deps.logger, runId) };
}

function runLogger(logger: Logger, runId: string): Logger {
  const withRun = (fields: LogFields = {}): LogFields => ({ run_id: runId, ...fields });
  return {
    debug: (message, fields) => logger.debug(message, withRun(fields)),
    info: (message, fields) => logger.info(message, withRun(fields)),
    warn: (message, fields) => logger.warn(message, withRun(fields)),
    error: (message, cause, fields) => logger.error(message, cause, withRun(fields)),
  };
}

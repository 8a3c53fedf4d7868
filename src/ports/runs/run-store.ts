import type { SyncRun } from "../../domain/sync/run/run.ts";

export interface RunQuery {
  readonly limit: number;
  /** Only runs that were first saved before the run with this id; null: from the newest on. */
  readonly beforeId: string | null;
}

/** Runs and their results, the last `MAX_KEPT_RUNS` of them. D-4.9. */
export interface RunStore {
  /**
   * Keeps a run under its id, durably, and drops the oldest beyond the limit. What was kept under the id is replaced and
   * keeps its place in the order. Throws `store_unavailable`, as the others do.
   */
  save(run: SyncRun): Promise<void>;

  /** Null when it is unknown or was dropped. */
  find(runId: string): Promise<SyncRun | null>;

  /**
   * Newest first: in the order in which they were first saved, by any instance and whatever their times. Resolves to
   * none when `beforeId` is unknown or was dropped.
   */
  list(query: RunQuery): Promise<readonly SyncRun[]>;
}

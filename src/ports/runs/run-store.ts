import type { KeptRun } from "../../domain/sync/run/run.ts";

export interface RunQuery {
  readonly limit: number;
  /** Only runs that were first saved before the run with this id; null: from the newest on. */
  readonly beforeId: string | null;
}

/** Runs and comparisons with their results, the last `MAX_KEPT_RUNS` of them. D-4.9, D-7.8. */
export interface RunStore {
  /**
   * Keeps a run under its id, durably, and drops the oldest beyond the limit. What was kept under the id is replaced and
   * keeps its place in the order. Throws `store_unavailable`, as the others do.
   */
  save(run: KeptRun): Promise<void>;

  /** Asks for the end of a run that is kept, whichever instance it is on; `reason` is for its `error`. D-7.8. */
  cancel(runId: string, reason: string): Promise<void>;

  /** The reason of the first `cancel` of a run; null when nobody asked for its end. */
  cancellation(runId: string): Promise<string | null>;

  /** Null when it is unknown or was dropped. */
  find(runId: string): Promise<KeptRun | null>;

  /**
   * Newest first: in the order in which they were first saved, by any instance and whatever their times. Resolves to
   * none when `beforeId` is unknown or was dropped.
   */
  list(query: RunQuery): Promise<readonly KeptRun[]>;
}

import type { QueuedAlert } from "../../domain/alerts/alert.ts";
import type { News } from "../../domain/sync/run/news.ts";
import type { KeptRun } from "../../domain/sync/run/run.ts";

/** A run, and what it has told so far. */
export interface ToldRun {
  readonly run: KeptRun;
  /** Put together as `addNews` does; empty for a run of an earlier version. */
  readonly news: readonly News[];
}

export interface RunQuery {
  readonly limit: number;
  /** Only runs that were first saved before the run with this id; null: from the newest on. */
  readonly beforeId: string | null;
}

/**
 * Runs and comparisons with their results and news, the last `MAX_KEPT_RUNS` of them. Beside these, in no list, the last
 * `MAX_KEPT_DRY_RUNS` dry runs. D-4.9, D-7.8, D-9.5.
 */
export interface RunStore {
  /**
   * Keeps a run under its id with what it has told, in one commit, durably, and drops the oldest beyond the limit of its
   * kind. What was kept under the id is replaced and keeps its place in the order; without `news` those stay. `alerts` are
   * added to those that wait, in the same commit. Throws `store_unavailable`, as the others do.
   */
  save(run: KeptRun, news?: readonly News[], alerts?: readonly QueuedAlert[]): Promise<void>;

  /** Asks for the end of a run or dry run that is kept, whichever instance it is on; `reason` is for its `error`. D-7.8. */
  cancel(runId: string, reason: string): Promise<void>;

  /** The reason of the first `cancel` of a run; null when nobody asked for its end. */
  cancellation(runId: string): Promise<string | null>;

  /** A run or dry run; null when it is unknown or was dropped. */
  find(runId: string): Promise<KeptRun | null>;

  /** The same with its news, both of one moment. */
  findTold(runId: string): Promise<ToldRun | null>;

  /**
   * Newest first: in the order in which they were first saved, by any instance and whatever their times. Resolves to
   * none when `beforeId` is unknown, was dropped or is a dry run's.
   */
  list(query: RunQuery): Promise<readonly KeptRun[]>;
}

// A comparison from its start to its end: listed among the runs, cancelled and stopped as they are. D-4.10, D-7.8.
import { type AppError, refuse } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import {
  type CompareEvent,
  type DifferenceKind,
  differenceEvent,
} from "../../../domain/sync/run/compare-events.ts";
import type {
  CompareCounts,
  CompareRepair,
  CompareRun,
  RunStatus,
  RunTrigger,
} from "../../../domain/sync/run/run.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import { compareTable } from "../compare/compare-table.ts";
import type { CompareResult, OnExample } from "../compare/comparison.ts";
import type { Difference, RowPair } from "../compare/row-pair.ts";
import { countRows } from "../shared/count-rows.ts";
import { PLAIN_PLAN, type RunPlan } from "../shared/run-context.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import { RunEvents } from "./run-events.ts";

export interface CompareRequest {
  readonly tableName: string;
  /** Which way rows that differ are to go; null to change nothing. */
  readonly repair: CompareRepair | null;
  /** Removes what only the end being repaired has; only with `push` or `pull`. D-7.6. */
  readonly deletes?: boolean;
  /** Rows that it may remove; null or absent for the limit of the registry. */
  readonly maxDeletes?: number | null;
  /** Overwrites rows that their table would keep; only with `push` or `pull`. D-11.10. */
  readonly isForced?: boolean;
  readonly trigger: RunTrigger;
  /** Called with each row that becomes an example. */
  readonly onExample?: OnExample;
}

export type CompareOutcome =
  | { readonly result: CompareResult; readonly error: null }
  /** `sync_misconfigured` or `sync_failed`. */
  | { readonly result: null; readonly error: AppError };

/** A comparison; it goes on to its end whether or not somebody waits for it. */
export class StartedComparison {
  readonly runId: string;
  /** Never rejects. */
  readonly outcome: Promise<CompareOutcome>;
  readonly #events: RunEvents<CompareEvent>;

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome. */
  constructor(deps: SyncDeps, request: CompareRequest) {
    refuseWithoutDirection(request);
    const table = findTable(deps.registry, request.tableName);
    const events = new RunEvents<CompareEvent>(deps);
    this.runId = events.runId;
    this.#events = events;
    const fields = { "repsync.table": table.name };
    const progress = new CompareProgress(events, request);
    this.outcome = events.traced("compareRun", fields, () => compare(progress, table));
  }

  /** What it tells from the first on, for any number of readers. D-9.5. */
  news(): AsyncGenerator<CompareEvent, void, undefined> {
    return this.#events.read();
  }

  /** Ends it before its next write, as failed, with a reason for its `error`. */
  stop(reason: string | null = null): void {
    if (reason === null) this.#events.stop("The comparison was stopped", "Start it again");
    else this.#events.stop(reason);
  }
}

/** Throws `invalid_request` where nothing says which end is to lose rows. */
function refuseWithoutDirection({ repair, deletes, isForced }: CompareRequest): void {
  if (repair === "push" || repair === "pull") return;
  const needs = 'Needs `repair` to be "push" or "pull"';
  if (deletes)
    refuse([{ pointer: "/delete", detail: `${needs}: it removes what only that end has` }]);
  if (isForced) refuse([{ pointer: "/force", detail: `${needs}: it overwrites rows of that end` }]);
}

const NOTHING_FOUND = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
const KIND_NAMES: Readonly<Record<Difference, DifferenceKind>> = {
  different: "different",
  missingHere: "missing_here",
  missingThere: "missing_there",
};
/** Time between two notices of progress. */
const PROGRESS_MS = 200;

/** A comparison goes by no marker, and tells no retries. */
const PLAN: RunPlan = { ...PLAIN_PLAN, isFull: true };

/** Compares, and keeps what was found. Never rejects. */
async function compare(progress: CompareProgress, table: Table): Promise<CompareOutcome> {
  const { events, request } = progress;
  const { repair, deletes = false, maxDeletes = null, isForced = false } = request;
  await events.kept(progress, PLAN, async (run) => {
    const totalRecords = await countRows(run.deps, table);
    events.publish({ type: "start", table: table.name, repair, totalRecords });
    const result = await compareTable(run, table, {
      repair,
      deletes,
      maxDeletes,
      isForced,
      onExample: (difference, pair, key) => progress.differ(difference, pair, key),
      onProgress: (found) => progress.look(found),
    });
    progress.succeed(result);
  });
  return progress.outcome;
}

/** What a comparison has found so far, and how it ended. */
class CompareProgress {
  readonly events: RunEvents<CompareEvent>;
  readonly request: CompareRequest;
  #found: CompareCounts = NOTHING_FOUND;
  #outcome: CompareOutcome | null = null;
  /** Differences told of each kind. */
  readonly #told: Record<Difference, number> = { different: 0, missingHere: 0, missingThere: 0 };

  constructor(events: RunEvents<CompareEvent>, request: CompareRequest) {
    this.events = events;
    this.request = request;
  }

  /** Tells a row that differs. */
  differ(difference: Difference, pair: RowPair, key: JsonObject): void {
    this.request.onExample?.(difference, pair, key);
    if (this.#told[difference]++ >= MAX_COMPARE_EXAMPLES) return;
    this.events.publish(differenceEvent(KIND_NAMES[difference], key, pair));
  }

  /** Takes what was found so far; tells it now and then. */
  look(found: CompareCounts): void {
    this.#found = found;
    this.events.nowAndThen(PROGRESS_MS, () => this.#publishProgress());
  }

  succeed(result: CompareResult): void {
    this.#found = result;
    this.#outcome = { result, error: null };
    this.#publishProgress();
    this.events.publish({ type: "done", table: this.request.tableName, ...result });
  }

  fail(cause: unknown): void {
    const { deps } = this.events;
    const table = this.request.tableName;
    deps.logger.error("Comparison failed", cause, { table });
    const error = asSyncError(cause);
    this.#outcome = { result: null, error };
    this.events.publish({ type: "error", table, error: error.text });
  }

  get outcome(): CompareOutcome {
    if (this.#outcome === null) throw new Error("A comparison that goes on has no outcome");
    return this.#outcome;
  }

  running(): CompareRun {
    return this.#describe("running");
  }

  ended(): CompareRun {
    const { error } = this.outcome;
    const run = this.#describe(error === null ? "success" : "failed");
    return error === null ? run : { ...run, error: error.text };
  }

  #publishProgress(): void {
    const { matched, different, missingHere, missingThere } = this.#found;
    const rows = matched + different + missingHere + missingThere;
    this.events.publish({ type: "progress", rows });
  }

  #describe(status: RunStatus): CompareRun {
    const { trigger, tableName, repair } = this.request;
    const { matched, different, missingHere, missingThere, repaired, kept, erased } = this.#found;
    return {
      runId: this.events.runId,
      kind: "compare",
      trigger,
      status,
      table: tableName,
      repair,
      matched,
      different,
      missingHere,
      missingThere,
      ...(repaired === undefined ? {} : { repaired }),
      ...(kept === undefined ? {} : { kept }),
      ...(erased === undefined ? {} : { erased }),
      ...this.events.times(status),
    };
  }
}

// A comparison from its start to its end: listed, cancelled and stopped as runs are. D-4.10, D-7.8.
import { type AppError, refuse } from "../../../domain/shared/errors.ts";
import { type CompareEvent, differenceEvent } from "../../../domain/sync/run/compare-events.ts";
import type {
  CompareCounts,
  CompareRun,
  RunStatus,
  RunTrigger,
} from "../../../domain/sync/run/run.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import { compareTable } from "../compare/compare-table.ts";
import type { ComparePlan, CompareResult, OnExample } from "../compare/comparison.ts";
import { countRows } from "../shared/count-rows.ts";
import { openRun } from "../shared/run-context.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import { StartedWork } from "./started-work.ts";

export interface CompareRequest extends ComparePlan {
  readonly tableName: string;
  readonly trigger: RunTrigger;
  /** The most rows that it may remove; null or absent: the limit of the registry. */
  readonly maxDeletes?: number | null;
  /** Overwrites rows that their table would keep; only with `push` or `pull`. D-11.10. */
  readonly isForced?: boolean;
  readonly onExample?: OnExample;
}

type CompareOutcome =
  | { readonly result: CompareResult; readonly error: null }
  /** `sync_misconfigured` or `sync_failed`. */
  | { readonly result: null; readonly error: AppError };

const NOTHING_FOUND = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
const PROGRESS_MS = 200;

export class StartedComparison extends StartedWork<CompareEvent, CompareRun> {
  /** Never rejects. */
  readonly outcome: Promise<CompareOutcome>;
  readonly #request: CompareRequest;
  #found: CompareCounts = NOTHING_FOUND;
  #outcome: CompareOutcome | null = null;

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome. */
  constructor(deps: SyncDeps, request: CompareRequest) {
    refuseWithoutDirection(request);
    const table = findTable(deps.registry, request.tableName);
    super(deps, { text: "The comparison was stopped", hint: "Start it again" });
    this.#request = request;
    this.outcome = this.#compare(table);
  }

  async #compare(table: Table): Promise<CompareOutcome> {
    const { runId, deps, stopping: stop } = this;
    await this.perform({
      name: "compareRun",
      fields: { "repsync.table": table.name },
      // A comparison reads every row, whatever the marker says, and shows no retries.
      open: () => openRun({ ...this.#request, isFull: true, runId, deps, stop }),
      do: async (run) => {
        const totalRecords = await countRows(run.deps, table);
        this.publish({
          type: "start",
          table: table.name,
          repair: this.#request.repair,
          totalRecords,
        });
        const result = await compareTable(run, table, this.#request, {
          onExample: (difference, pair, key) => {
            this.#request.onExample?.(difference, pair, key);
            this.publish(differenceEvent(difference, key, pair));
          },
          onProgress: (found) => {
            this.#found = found;
            this.atMostEvery(PROGRESS_MS, () => this.#publishProgress());
          },
        });
        const { examples: _, ...found } = result;
        this.#found = found;
        this.#outcome = { result, error: null };
        this.#publishProgress();
        this.publish({ type: "done", table: table.name, ...result });
      },
    });
    if (this.#outcome === null) throw new Error("A comparison that has ended has an outcome");
    return this.#outcome;
  }

  #publishProgress(): void {
    const { matched, different, missingHere, missingThere } = this.#found;
    const rows = matched + different + missingHere + missingThere;
    this.publish({ type: "progress", rows });
  }

  fail(cause: unknown): void {
    const table = this.#request.tableName;
    this.deps.logger.error("Comparison failed", cause, { table });
    const error = asSyncError(cause);
    this.#outcome = { result: null, error };
    this.publish({ type: "error", table, error: error.text });
  }

  get error(): AppError | null {
    return this.#outcome?.error ?? null;
  }

  protected get isPartial(): boolean {
    return false;
  }

  describe(status: RunStatus): CompareRun {
    const { trigger, tableName: table, repair } = this.#request;
    return {
      runId: this.runId,
      kind: "compare",
      trigger,
      status,
      table,
      repair,
      ...this.#found,
      ...this.times(status),
    };
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

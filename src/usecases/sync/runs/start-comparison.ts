// A comparison from its start to its end: listed among the runs, cancelled and stopped as they are. D-4.10, D-7.8.
import { AppError, refuse } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type {
  CompareCounts,
  CompareRepair,
  CompareRun,
  RunTrigger,
} from "../../../domain/sync/run/run.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import { compareTable } from "../compare/compare-table.ts";
import type { CompareResult, OnExample } from "../compare/comparison.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import { depsOfRun, type RunContext } from "../shared/run-context.ts";
import { asSyncError, openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { followCancellation } from "./cancel-run.ts";
import { endAbandonedRuns, holdRun, keepResult } from "./sync-lists.ts";

export interface CompareRequest {
  readonly tableName: string;
  /** Which way rows that differ are to go; null to change nothing. */
  readonly repair: CompareRepair | null;
  /** Removes what only the end being repaired has; only with `push` or `pull`. D-7.6. */
  readonly deletes?: boolean;
  /** Rows that it may remove; null or absent for the limit of the registry. */
  readonly maxDeletes?: number | null;
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
  readonly #stopping = new AbortController();

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome. */
  constructor(deps: SyncDeps, request: CompareRequest) {
    refuseDeletes(request);
    const table = findTable(deps.registry, request.tableName);
    this.runId = deps.ids.next();
    const ended = new AbortController();
    const comparison = new KeptComparison(depsOfRun(deps, this.runId), this.runId, request);
    this.outcome = comparison.run(table, this.#stopping.signal).finally(() => ended.abort());
    void followCancellation(deps, this.runId, ended.signal, (reason) =>
      this.#stopping.abort(reason),
    );
  }

  /** Ends it before its next write, as failed, with a reason for its `error`. */
  stop(reason = "The comparison was stopped; start it again"): void {
    this.#stopping.abort(new AppError("sync_failed", reason));
  }
}

/** Throws `invalid_request` where nothing says which end is to lose rows. */
function refuseDeletes({ repair, deletes = false }: CompareRequest): void {
  if (!deletes || repair === "push" || repair === "pull") return;
  const detail = 'Needs `repair` to be "push" or "pull": it removes what only that end has';
  refuse([{ pointer: "/delete", detail }]);
}

const NOTHING_FOUND = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };

class KeptComparison {
  readonly #deps: SyncDeps;
  readonly #request: CompareRequest;
  readonly #runId: string;
  readonly #startedAt: string;
  readonly #startedAtMs: number;

  constructor(deps: SyncDeps, runId: string, request: CompareRequest) {
    this.#deps = deps;
    this.#runId = runId;
    this.#request = request;
    this.#startedAt = formatMs(deps.clock.nowMs());
    this.#startedAtMs = deps.clock.monotonicMs();
  }

  /** Keeps it as running, compares, and keeps what was found. Never rejects. */
  async run(table: Table, stop: AbortSignal): Promise<CompareOutcome> {
    const deps = this.#deps;
    let lease: RunLease | null = null;
    try {
      const run = this.#open(stop);
      lease = await holdRun(deps, this.#runId, stop);
      await endAbandonedRuns(deps);
      await deps.runs.save(this.#describe("running", NOTHING_FOUND));
      const { repair, deletes = false, maxDeletes = null } = this.#request;
      const { onExample = () => {} } = this.#request;
      const plan = { repair, deletes, maxDeletes, onExample };
      const result = await compareTable(run, table, plan);
      await keepResult(deps, this.#describe("success", result));
      return { result, error: null };
    } catch (thrown) {
      deps.logger.error("Comparison failed", thrown, { table: table.name });
      const error = asSyncError(thrown);
      if (lease !== null) {
        const failed = this.#describe("failed", NOTHING_FOUND);
        await keepResult(deps, { ...failed, error: error.message });
      }
      return { result: null, error };
    } finally {
      await lease?.release();
    }
  }

  /** Throws `sync_misconfigured`: then nothing is done, and nothing listed. S-4.4.5. */
  #open(stop: AbortSignal): RunContext {
    const deps = this.#deps;
    return {
      runId: this.#runId,
      deps,
      remote: openRemote(deps),
      startedAt: this.#startedAt,
      stop,
      directions: [],
      isFull: false,
      isForced: false,
      isDryRun: false,
      maxDeletes: null,
      publish: () => {},
    };
  }

  #describe(
    status: CompareRun["status"],
    { matched, different, missingHere, missingThere, repaired, kept, erased }: CompareCounts,
  ): CompareRun {
    const { clock } = this.#deps;
    const { trigger, tableName, repair } = this.#request;
    return {
      runId: this.#runId,
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
      startedAt: this.#startedAt,
      finishedAt: status === "running" ? null : formatMs(clock.nowMs()),
      durationMs: Math.round(clock.monotonicMs() - this.#startedAtMs),
    };
  }
}

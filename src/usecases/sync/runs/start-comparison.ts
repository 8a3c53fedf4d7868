// A comparison from its start to its end: listed among the runs, cancelled and stopped as they are. D-4.10, D-7.8.
import { AppError, refuse } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import {
  type CompareEvent,
  type DifferenceKind,
  differenceEvent,
} from "../../../domain/sync/run/compare-events.ts";
import type {
  CompareCounts,
  CompareRepair,
  CompareRun,
  RunTrigger,
} from "../../../domain/sync/run/run.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import type { Span } from "../../../ports/runtime/tracing.ts";
import { compareTable } from "../compare/compare-table.ts";
import type { CompareResult, OnExample } from "../compare/comparison.ts";
import type { Difference, RowPair } from "../compare/row-pair.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import { depsOfRun, type RunContext } from "../shared/run-context.ts";
import { asSyncError, openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { followCancellation } from "./cancel-run.ts";
import { keepResult, NewsKeeper } from "./keep-news.ts";
import { RunFeed } from "./run-feed.ts";
import { endAbandonedRuns, holdRun } from "./sync-lists.ts";
import { countRows } from "./tell-drift.ts";

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
  readonly #stopping = new AbortController();
  readonly #feed = new RunFeed<CompareEvent>();

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome. */
  constructor(deps: SyncDeps, request: CompareRequest) {
    refuseWithoutDirection(request);
    const table = findTable(deps.registry, request.tableName);
    this.runId = deps.ids.next();
    const ended = new AbortController();
    const feed = this.#feed;
    const comparison = new KeptComparison(depsOfRun(deps, this.runId), this.runId, request, feed);
    const compare = async (span: Span) => {
      const outcome = await comparison.run(table, this.#stopping.signal);
      if (outcome.error !== null) span.fail(outcome.error.kind);
      return outcome;
    };
    const fields = { "repsync.run_id": this.runId, "repsync.table": table.name };
    this.outcome = deps.tracing.inSpan("compareRun", compare, { fields }).finally(() => {
      ended.abort();
      feed.publish({ type: "finished" });
      feed.close();
    });
    const cancel = (reason: AppError) => this.#stopping.abort(reason);
    void deps.tracing.detached(() => followCancellation(deps, this.runId, ended.signal, cancel));
  }

  /** What it tells from the first on, for any number of readers. D-9.5. */
  news(): AsyncGenerator<CompareEvent, void, undefined> {
    return this.#feed.read();
  }

  /** Ends it before its next write, as failed, with a reason for its `error`. */
  stop(reason = "The comparison was stopped; start it again"): void {
    this.#stopping.abort(new AppError("sync_failed", reason));
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

class KeptComparison {
  readonly #deps: SyncDeps;
  readonly #request: CompareRequest;
  readonly #runId: string;
  readonly #feed: RunFeed<CompareEvent>;
  readonly #startedAt: string;
  readonly #startedAtMs: number;
  /** What it has found so far. */
  #found: CompareCounts = NOTHING_FOUND;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  /** Differences told of each kind. */
  readonly #told: Record<Difference, number> = { different: 0, missingHere: 0, missingThere: 0 };

  constructor(deps: SyncDeps, runId: string, request: CompareRequest, feed: RunFeed<CompareEvent>) {
    this.#deps = deps;
    this.#runId = runId;
    this.#request = request;
    this.#feed = feed;
    this.#startedAt = formatMs(deps.clock.nowMs());
    this.#startedAtMs = deps.clock.monotonicMs();
  }

  /** Keeps it as running, compares, and keeps what was found. Never rejects. */
  async run(table: Table, stop: AbortSignal): Promise<CompareOutcome> {
    const deps = this.#deps;
    const feed = this.#feed;
    let lease: RunLease | null = null;
    let keeper: NewsKeeper<CompareEvent> | null = null;
    try {
      const run = this.#open(stop);
      lease = await holdRun(deps, this.#runId, stop);
      await endAbandonedRuns(deps);
      const describe = () => this.#describe("running", this.#found);
      keeper = await NewsKeeper.begin(deps, { feed, describe });
      const { repair, deletes = false, maxDeletes = null, isForced = false } = this.#request;
      const totalRecords = await countRows(run, table);
      feed.publish({ type: "start", table: table.name, repair, totalRecords });
      const result = await compareTable(run, table, {
        repair,
        deletes,
        maxDeletes,
        isForced,
        onExample: (difference, pair, key) => this.#tellDifference(difference, pair, key),
        onProgress: (found) => this.#tellProgress(found),
      });
      this.#publishProgress(result);
      feed.publish({ type: "done", table: table.name, ...result });
      await keeper.end(this.#describe("success", result));
      return { result, error: null };
    } catch (thrown) {
      deps.logger.error("Comparison failed", thrown, { table: table.name });
      const error = asSyncError(thrown);
      feed.publish({ type: "error", table: table.name, error: error.message });
      const failed = { ...this.#describe("failed", this.#found), error: error.message };
      if (keeper !== null) await keeper.end(failed);
      else if (lease !== null) await keepResult(deps, failed, feed.told());
      return { result: null, error };
    } finally {
      await lease?.release();
    }
  }

  #tellDifference(difference: Difference, pair: RowPair, key: JsonObject): void {
    this.#request.onExample?.(difference, pair, key);
    if (this.#told[difference]++ >= MAX_COMPARE_EXAMPLES) return;
    this.#feed.publish(differenceEvent(KIND_NAMES[difference], key, pair));
  }

  #tellProgress(found: CompareCounts): void {
    this.#found = found;
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#toldAtMs < PROGRESS_MS) return;
    this.#toldAtMs = nowMs;
    this.#publishProgress(found);
  }

  #publishProgress({ matched, different, missingHere, missingThere }: CompareCounts): void {
    const rows = matched + different + missingHere + missingThere;
    this.#feed.publish({ type: "progress", rows });
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

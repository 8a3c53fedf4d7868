// The context of a run, or of the comparison of a table, and the counts of what it moves. S-6, D-4.4.
import { formatMs } from "../../../domain/shared/time.ts";
import type { Rejection } from "../../../domain/sync/run/rejections.ts";
import {
  NO_TABLE_RESULT,
  type RunNews,
  type RunRequest,
  type SyncDirection,
  type TableResult,
} from "../../../domain/sync/run/run.ts";
import type { TransferCounts } from "../../../ports/runtime/metrics.ts";
import type { LogFields, Logger } from "../../../ports/runtime/runtime.ts";
import type { TransferredBytes } from "../../../ports/tables/remote-peer.ts";
import { openRemote, type Remote, type SyncDeps } from "./sync-deps.ts";

export interface RunContext extends Omit<RunRequest, "direction" | "tableName" | "trigger"> {
  /** The directions in which each table moves, one after the other; none in a comparison. */
  readonly directions: readonly SyncDirection[];
  publish(news: RunNews): void;
  readonly runId: string;
  /** Their logger adds the run to every line. */
  readonly deps: SyncDeps;
  readonly remote: Remote;
  readonly startedAt: string;
  /** Aborted, with an `AppError`, to end the run from outside. */
  readonly stop: AbortSignal;
}

type RunPlan = Pick<RunContext, "runId" | "deps" | "stop"> & Partial<RunContext>;

/** Opens a run with its remote; by default nothing moves and nothing is published. Throws `sync_misconfigured`. */
export function openRun(plan: RunPlan): RunContext {
  return {
    isFull: false,
    directions: [],
    isForced: false,
    maxDeletes: null,
    isDryRun: false,
    publish() {},
    ...plan,
    remote: openRemote(plan.deps),
    startedAt: formatMs(plan.deps.clock.nowMs()),
  };
}

export function depsOfRun(deps: SyncDeps, runId: string): SyncDeps {
  const { logger: all } = deps;
  const withRun = (fields: LogFields = {}): LogFields => ({ run_id: runId, ...fields });
  const logger: Logger = {
    debug: (message, fields) => all.debug(message, withRun(fields)),
    info: (message, fields) => all.info(message, withRun(fields)),
    warn: (message, fields) => all.warn(message, withRun(fields)),
    error: (message, cause, fields) => all.error(message, cause, withRun(fields)),
  };
  return { ...deps, logger };
}

/** The result of rows that were sent, or records that arrived. */
export interface MovedRecords {
  readonly rejected: readonly Rejection[];
  /** Rows that stayed at the receiving end, being newer. */
  readonly kept: number;
  /** Records that the receiving end left out, as the people whom they name are erased there. D-8.2. */
  readonly erased: number;
  /** Rows really written. */
  readonly changed: number;
}

export const NOTHING_MOVED: MovedRecords = { rejected: [], kept: 0, erased: 0, changed: 0 };

export interface MovedBatch extends MovedRecords {
  /** Rows sent or arrived for the first time, rejected ones too. */
  readonly rows: number;
  /** Rows that one batch can hold now. */
  readonly batchRows: number;
}

type Growing = { -readonly [Name in keyof TableResult]: TableResult[Name] };

const NO_BYTES: TransferredBytes = { bytesCompressed: 0, bytesUncompressed: 0 };

/** Counts what a transfer does and publishes it. */
export class TransferReport {
  readonly direction: SyncDirection;
  readonly #run: RunContext;
  readonly #of: { readonly table: string; readonly direction: SyncDirection };
  readonly #startedAtMs: number;
  #isStarted = false;
  #expectedRows = 0;
  #batches = 0;
  #sentRows = 0;
  readonly #done: Growing = { ...NO_TABLE_RESULT };
  /** Bytes that the batch events so far have shown. */
  #shown: TransferredBytes = NO_BYTES;

  constructor(run: RunContext, table: string, direction: SyncDirection) {
    this.direction = direction;
    this.#run = run;
    this.#of = { table, direction };
    this.#startedAtMs = run.deps.clock.monotonicMs();
  }

  start(totalRecords: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#expectedRows = totalRecords;
    this.#run.publish({ type: "start", ...this.#of, totalRecords });
  }

  /** Counts the bytes of a request; the next batch event shows them. */
  addBytes(added: TransferredBytes): void {
    this.#done.bytesCompressed += added.bytesCompressed;
    this.#done.bytesUncompressed += added.bytesUncompressed;
    this.#measure({ rows: 0, rejected: 0, ...added });
  }

  addDeleted(rows: number): void {
    this.#done[this.direction === "push" ? "deletedThere" : "deletedHere"] += rows;
    this.#addTraffic(rows);
  }

  /** Adds records rejected outside of batches; a negative count takes off those that the run has replaced since. */
  addRejected(count: number): void {
    this.#done.errorCount += count;
  }

  expect(totalRows: number): void {
    this.#expectedRows = totalRows;
  }

  /** Takes off expected rows that need not move; `kept` of them are newer at the receiving end. */
  skip(rows: number, kept: number): void {
    this.#expectedRows = Math.max(this.#sentRows, this.#expectedRows - rows);
    this.#done.kept += kept;
  }

  countThere(rows: number | null): void {
    this.#done.countThere = rows;
  }

  batch(batch: MovedBatch): void {
    const { rows, kept, erased } = batch;
    const rejected = batch.rejected.length;
    // Nobody knows which rows a dry run would change.
    const changed = this.#run.isDryRun ? 0 : batch.changed;
    const accepted = Math.max(0, rows - rejected - erased);
    this.#batches++;
    this.#sentRows += rows;
    this.#done[this.direction === "push" ? "pushed" : "pulled"] += accepted;
    this.#done.errorCount += rejected;
    this.#done.kept += kept;
    this.#done.erased += erased;
    this.#done.changed += changed;
    this.#addTraffic(changed);
    this.#measure({ rows: accepted, rejected, ...NO_BYTES });
    this.#expectedRows = Math.max(this.#expectedRows, this.#sentRows);
    this.start(this.#expectedRows);
    const { bytesCompressed, bytesUncompressed } = this.#done;
    const elapsedMs = this.#elapsedMs();
    const batchesLeft = Math.ceil((this.#expectedRows - this.#sentRows) / batch.batchRows);
    this.#run.publish({
      type: "batch",
      ...this.#of,
      batch: this.#batches,
      totalBatches: this.#batches + batchesLeft,
      recordsSent: rows,
      totalSent: this.#sentRows,
      totalRecords: this.#expectedRows,
      bytesCompressed: bytesCompressed - this.#shown.bytesCompressed,
      bytesUncompressed: bytesUncompressed - this.#shown.bytesUncompressed,
      upserted: accepted,
      errorCount: rejected,
      elapsedMs,
      rowsPerSecond: Math.round((this.#sentRows * 1000) / Math.max(1, elapsedMs)),
    });
    this.#shown = { bytesCompressed, bytesUncompressed };
  }

  done(): void {
    this.start(this.#sentRows);
    const { pushed, pulled, errorCount, bytesCompressed, bytesUncompressed } = this.#done;
    this.#run.publish({
      type: "done",
      ...this.#of,
      status: errorCount > 0 ? "partial" : "success",
      ...(this.direction === "push" ? { totalPushed: pushed } : { totalPulled: pulled }),
      bytesCompressed,
      bytesUncompressed,
      durationMs: this.#elapsedMs(),
    });
  }

  result(): TableResult {
    return { ...this.#done, durationMs: this.#elapsedMs() };
  }

  #addTraffic(rows: number): void {
    if (!this.#run.isDryRun) this.#run.deps.traffic?.addRows(rows);
  }

  /** /metrics counts what runs move, not what comparisons read. */
  #measure(moved: Omit<TransferCounts, "table" | "direction">): void {
    const { isDryRun, directions, deps } = this.#run;
    if (!isDryRun && directions.length > 0) deps.metrics?.countMoved({ ...this.#of, ...moved });
  }

  #elapsedMs(): number {
    return Math.round(this.#run.deps.clock.monotonicMs() - this.#startedAtMs);
  }
}

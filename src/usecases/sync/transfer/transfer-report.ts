import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { TransferredBytes } from "../../../ports/tables/remote-peer.ts";
import type { RunContext } from "../shared/run-context.ts";

export interface MovedBatch {
  /** Rows sent or arrived for the first time, rejected ones too. */
  readonly rows: number;
  /** Of those, the ones that were not rejected. */
  readonly accepted: number;
  readonly rejected: number;
  /** Rows that stayed at the receiving end, being newer. */
  readonly kept: number;
  /** Rows that it left out, as the people whom they name were erased there; absent for none. D-8.2. */
  readonly erased?: number;
  /** Rows really written. */
  readonly changed: number;
  /** Rows that one batch can hold now. */
  readonly batchRows: number;
}

export interface TransferTotals extends TransferredBytes {
  /** Rows that the receiving end accepted. */
  readonly moved: number;
  readonly rejected: number;
  readonly kept: number;
  readonly erased: number;
  readonly changed: number;
  readonly durationMs: number;
  /** Rows that tombstones removed at the receiving end. */
  readonly deleted: number;
  /** Rows of the remote's table when it was last told; null when nothing told it. */
  readonly countThere: number | null;
}

/** Counts what a transfer does and publishes it. S-6, D-4.4. */
export class TransferReport {
  readonly #run: RunContext;
  readonly #table: string;
  readonly #direction: SyncDirection;
  readonly #startedAtMs: number;
  #isStarted = false;
  #expectedRows = 0;
  #batches = 0;
  #sentRows = 0;
  #movedRows = 0;
  #rejectedRows = 0;
  #keptRows = 0;
  #erasedRows = 0;
  #changedRows = 0;
  #deletedRows = 0;
  #countThere: number | null = null;
  #bytesCompressed = 0;
  #bytesUncompressed = 0;
  /** Bytes that the batch events so far have shown. */
  #shown: TransferredBytes = { bytesCompressed: 0, bytesUncompressed: 0 };

  constructor(run: RunContext, table: string, direction: SyncDirection) {
    this.#run = run;
    this.#table = table;
    this.#direction = direction;
    this.#startedAtMs = run.deps.clock.monotonicMs();
  }

  start(totalRows: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#expectedRows = totalRows;
    this.#run.publish({
      type: "start",
      table: this.#table,
      direction: this.#direction,
      totalRecords: totalRows,
    });
  }

  /** Counts the bytes of a request; the next batch event shows them. */
  addBytes(added: TransferredBytes): void {
    this.#bytesCompressed += added.bytesCompressed;
    this.#bytesUncompressed += added.bytesUncompressed;
  }

  addDeleted(rows: number): void {
    this.#deletedRows += rows;
    if (!this.#run.isDryRun) this.#run.deps.traffic?.addRows(rows);
  }

  /** Counts what was refused beside the batches. */
  addRejected(count: number): void {
    this.#rejectedRows += count;
  }

  expect(totalRows: number): void {
    this.#expectedRows = totalRows;
  }

  /** Some of the rows expected need not move; of those, the receiving end has `kept` newer. */
  skip(rows: number, kept: number): void {
    this.#expectedRows = Math.max(this.#sentRows, this.#expectedRows - rows);
    this.#keptRows += kept;
  }

  countThere(rows: number | null): void {
    this.#countThere = rows;
  }

  batch(batch: MovedBatch): void {
    this.#batches++;
    this.#sentRows += batch.rows;
    this.#movedRows += batch.accepted;
    this.#rejectedRows += batch.rejected;
    this.#keptRows += batch.kept;
    this.#erasedRows += batch.erased ?? 0;
    this.#changedRows += batch.changed;
    this.#run.deps.traffic?.addRows(batch.changed);
    this.#expectedRows = Math.max(this.#expectedRows, this.#sentRows);
    this.start(this.#expectedRows);
    const elapsedMs = this.#elapsedMs();
    const batchesLeft = Math.ceil((this.#expectedRows - this.#sentRows) / batch.batchRows);
    this.#run.publish({
      type: "batch",
      table: this.#table,
      direction: this.#direction,
      batch: this.#batches,
      totalBatches: this.#batches + batchesLeft,
      recordsSent: batch.rows,
      totalSent: this.#sentRows,
      totalRecords: this.#expectedRows,
      bytesCompressed: this.#bytesCompressed - this.#shown.bytesCompressed,
      bytesUncompressed: this.#bytesUncompressed - this.#shown.bytesUncompressed,
      upserted: batch.accepted,
      errorCount: batch.rejected,
      elapsedMs,
      rowsPerSecond: Math.round((this.#sentRows * 1000) / Math.max(1, elapsedMs)),
    });
    this.#shown = {
      bytesCompressed: this.#bytesCompressed,
      bytesUncompressed: this.#bytesUncompressed,
    };
  }

  done(): void {
    this.start(this.#sentRows);
    const moved =
      this.#direction === "push"
        ? { totalPushed: this.#movedRows }
        : { totalPulled: this.#movedRows };
    this.#run.publish({
      type: "done",
      table: this.#table,
      direction: this.#direction,
      status: this.#rejectedRows > 0 ? "partial" : "success",
      ...moved,
      bytesCompressed: this.#bytesCompressed,
      bytesUncompressed: this.#bytesUncompressed,
      durationMs: this.#elapsedMs(),
    });
  }

  totals(): TransferTotals {
    return {
      moved: this.#movedRows,
      rejected: this.#rejectedRows,
      kept: this.#keptRows,
      erased: this.#erasedRows,
      changed: this.#changedRows,
      deleted: this.#deletedRows,
      bytesCompressed: this.#bytesCompressed,
      bytesUncompressed: this.#bytesUncompressed,
      durationMs: this.#elapsedMs(),
      countThere: this.#countThere,
    };
  }

  #elapsedMs(): number {
    return Math.round(this.#run.deps.clock.monotonicMs() - this.#startedAtMs);
  }
}

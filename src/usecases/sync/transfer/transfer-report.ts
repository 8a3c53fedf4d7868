import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { TransferredBytes } from "../../../ports/tables/remote-peer.ts";
import type { RunContext } from "../shared/run-context.ts";

export interface MovedBatch {
  /** Rows sent or arrived for the first time, rejected ones too. */
  readonly rows: number;
  /** Of those, the ones that were not rejected. */
  readonly accepted: number;
  readonly rejected: number;
  /** Rows that one batch can hold now. */
  readonly batchRows: number;
}

export interface TransferTotals extends TransferredBytes {
  /** Rows that the receiving end accepted. */
  readonly moved: number;
  readonly rejected: number;
  readonly durationMs: number;
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

  expect(totalRows: number): void {
    this.#expectedRows = totalRows;
  }

  /** Some of the rows expected need not move. */
  skip(rows: number): void {
    this.#expectedRows = Math.max(this.#sentRows, this.#expectedRows - rows);
  }

  batch(batch: MovedBatch): void {
    this.#batches++;
    this.#sentRows += batch.rows;
    this.#movedRows += batch.accepted;
    this.#rejectedRows += batch.rejected;
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
      bytesCompressed: this.#bytesCompressed,
      bytesUncompressed: this.#bytesUncompressed,
      durationMs: this.#elapsedMs(),
    };
  }

  #elapsedMs(): number {
    return Math.round(this.#run.deps.clock.monotonicMs() - this.#startedAtMs);
  }
}

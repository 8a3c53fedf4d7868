import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { RunEvent } from "../../../domain/sync/run/run.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { TransferredBytes } from "../../../ports/tables/remote-peer.ts";

/** What one batch or page moved. */
export interface MovedBatch {
  /** Rows sent or arrived for the first time, refused ones too. */
  readonly rows: number;
  /** Of those, the ones that were not refused. */
  readonly accepted: number;
  readonly refused: number;
  /** Rows that one batch can hold now. */
  readonly batchRows: number;
}

/** What one transfer of one table has done. */
export interface TransferTotals extends TransferredBytes {
  /** Rows written there or arrived here, not refused. */
  readonly moved: number;
  readonly refused: number;
  readonly durationMs: number;
}

/** Counts what a transfer does and tells its readers. S-6, D-4.4. */
export interface TransferReport {
  /** Says once how many rows are expected. */
  start(totalRows: number): void;
  /** Counts the bytes of a request; the next batch event shows them. */
  addBytes(bytes: TransferredBytes): void;
  /** Corrects how many rows are expected in all. */
  expect(totalRows: number): void;
  /** Some of the rows expected need not move. */
  skip(rows: number): void;
  /** Counts rows and tells about them. */
  batch(batch: MovedBatch): void;
  /** Tells the end of the transfer. */
  done(): void;
  totals(): TransferTotals;
}

/** Starts a report. */
export function startTransferReport(
  subject: { readonly table: string; readonly direction: SyncDirection },
  { clock, publish }: { readonly clock: Clock; publish(event: RunEvent): void },
): TransferReport {
  const startedAtMs = clock.monotonicMs();
  const bytes = { bytesCompressed: 0, bytesUncompressed: 0 };
  const shown = { ...bytes };
  let isStarted = false;
  let expectedRows = 0;
  let batches = 0;
  let sent = 0;
  let moved = 0;
  let refused = 0;

  function start(totalRows: number): void {
    if (isStarted) return;
    isStarted = true;
    expectedRows = totalRows;
    publish({ type: "start", ...subject, totalRecords: totalRows });
  }

  function batch(one: MovedBatch): void {
    batches++;
    sent += one.rows;
    moved += one.accepted;
    refused += one.refused;
    expectedRows = Math.max(expectedRows, sent);
    start(expectedRows);
    const elapsedMs = Math.round(clock.monotonicMs() - startedAtMs);
    publish({
      type: "batch",
      ...subject,
      batch: batches,
      totalBatches: batches + Math.ceil((expectedRows - sent) / one.batchRows),
      recordsSent: one.rows,
      totalSent: sent,
      totalRecords: expectedRows,
      bytesCompressed: bytes.bytesCompressed - shown.bytesCompressed,
      bytesUncompressed: bytes.bytesUncompressed - shown.bytesUncompressed,
      upserted: one.accepted,
      errorCount: one.refused,
      elapsedMs: elapsedMs,
      rowsPerSecond: Math.round((sent * 1000) / Math.max(1, elapsedMs)),
    });
    Object.assign(shown, bytes);
  }

  function done(): void {
    start(sent);
    publish({
      type: "done",
      ...subject,
      status: refused > 0 ? "partial" : "success",
      ...(subject.direction === "push" ? { totalPushed: moved } : { totalPulled: moved }),
      bytesCompressed: bytes.bytesCompressed,
      bytesUncompressed: bytes.bytesUncompressed,
      durationMs: Math.round(clock.monotonicMs() - startedAtMs),
    });
  }

  return {
    start,
    addBytes(added) {
      bytes.bytesCompressed += added.bytesCompressed;
      bytes.bytesUncompressed += added.bytesUncompressed;
    },
    expect(totalRows) {
      expectedRows = totalRows;
    },
    skip(rows) {
      expectedRows = Math.max(sent, expectedRows - rows);
    },
    batch,
    done,
    totals: () => ({
      ...bytes,
      moved,
      refused,
      durationMs: Math.round(clock.monotonicMs() - startedAtMs),
    }),
  };
}

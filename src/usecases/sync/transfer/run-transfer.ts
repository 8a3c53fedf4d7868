import { parseDateTime } from "../../../domain/shared/time.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { RunEvent } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { startRemoteCalls } from "../shared/call-remote.ts";
import { holdLease, transferLeaseName } from "../shared/hold-lease.ts";
import type { Remote, SyncDeps } from "../shared/sync-deps.ts";
import { startTransferReport, type TransferTotals } from "../shared/transfer-report.ts";
import { countPull, countPush } from "./count-rows.ts";
import { lookForRemoteChanges } from "./newer-rows.ts";
import { passPulledRows } from "./pass-pulled-rows.ts";
import { startPushReader } from "./read-push-rows.ts";
import { readWaiting } from "./refusal-book.ts";
import { runPull } from "./run-pull.ts";
import { runPush } from "./run-push.ts";
import { type Clocks, openMarkers, readClocks, type Transfer, type TwoWay } from "./transfer.ts";

/** One table in one direction, and the run it is part of. */
export interface TransferRequest {
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly isFull: boolean;
  readonly isDryRun: boolean;
  readonly remote: Remote;
  readonly runId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null unless the run moves rows in both directions. */
  readonly twoWay: TwoWay | null;
  /** Ends the run from outside; its reason is an `AppError`. */
  readonly stop: AbortSignal;
  publish(event: RunEvent): void;
  /** Takes the totals, also those of a transfer that failed. */
  count(totals: TransferTotals): void;
}

/** Moves one table in one direction. Throws `AppError`; `count` has been called by then. D-4.8. */
export async function runTransfer(deps: SyncDeps, request: TransferRequest): Promise<void> {
  const { table, direction, runId, stop } = request;
  const subject = { table: table.name, direction };
  const report = startTransferReport(subject, { ...deps, publish: request.publish });
  const ended = new AbortController();
  const name = transferLeaseName(direction, table.name);
  const lease = request.isDryRun ? freeOfLease(stop) : await holdLease(deps, { name, runId, stop });
  try {
    const signal = AbortSignal.any([lease.signal, ended.signal]);
    const calls = startRemoteCalls(deps, signal);
    const transfer: Transfer = { deps, ...request, lease, calls, report };
    await (request.isDryRun ? countTransfer(transfer) : moveTransfer(transfer, runId));
    report.done();
  } finally {
    request.count(report.totals());
    // What is still under way was asked for in advance.
    ended.abort();
    await lease.release();
  }
}

async function moveTransfer(transfer: Transfer, runId: string): Promise<void> {
  const clocks = await readClocks(transfer);
  if (transfer.direction === "push") {
    await runPush(transfer, clocks);
    return;
  }
  const pulledUpTo = await runPull(transfer, clocks);
  await passPulledRows(transfer, { runId, pulledUpTo });
}

/** Counts what would move, by the same markers, what was refused before too. Nothing is written. D-4.11. */
async function countTransfer(transfer: Transfer): Promise<void> {
  const { direction, report } = transfer;
  const clocks = await readClocks(transfer);
  const { start: marker } = await openMarkers(transfer, clocks);
  const waiting = await readWaiting(transfer, direction);
  const counted =
    direction === "push"
      ? await countUnknownThere(transfer, { clocks, marker })
      : await countPull(transfer, marker);
  const rows = waiting.length + counted;
  report.start(rows);
  if (rows > 0) report.batch({ rows, accepted: rows, refused: 0, batchRows: rows });
}

/** Rows that a push would send: in a run in both directions not those that the remote has as they are, or later. */
async function countUnknownThere(
  transfer: Transfer,
  { clocks, marker }: { readonly clocks: Clocks; readonly marker: string | null },
): Promise<number> {
  const { deps, table } = transfer;
  const sinceTime = marker === null ? null : parseDateTime(marker);
  if (transfer.twoWay === null) return await countPush(deps.rows, table, sinceTime);
  const changes = await lookForRemoteChanges(transfer, clocks);
  const size = new BatchSize(deps.maxPageRows);
  const reader = startPushReader(deps.rows, { table, sinceTime, size });
  for (let counted = 0; ; ) {
    const { rows, isLast } = await reader.read();
    counted += rows.filter((row) => !changes.isThere(row)).length;
    if (isLast || rows.length === 0) return counted;
  }
}

/** Who writes nothing needs no lease. */
function freeOfLease(stop: AbortSignal) {
  return {
    signal: stop,
    assertHeld: () => stop.throwIfAborted(),
    release: async () => {},
  };
}

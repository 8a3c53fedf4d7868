import { parseDateTime } from "../../../domain/shared/time.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { RemoteCalls } from "../shared/call-remote.ts";
import { holdLease, RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import type { RunContext } from "../shared/run-context.ts";
import {
  type Clocks,
  openMarkers,
  readClocks,
  type TableTransfer,
  type TwoWay,
} from "./begin-transfer.ts";
import { lookForRemoteChanges } from "./newer-rows.ts";
import { countPush, PushReader } from "./own-rows.ts";
import { pullTable } from "./pull-table.ts";
import { pushTable } from "./push-table.ts";
import { countPull } from "./remote-pages.ts";
import { readWaiting } from "./table-rejections.ts";
import { TransferReport, type TransferTotals } from "./transfer-report.ts";

interface TransferOutcome {
  /** What it did, also when it failed; null when it never began. */
  readonly totals: TransferTotals | null;
  /** Why it failed, as it was thrown; null when it ended well. */
  readonly error: unknown;
}

/** Moves one table in one direction under its lease, or counts what would move. Never rejects. D-4.8. */
export async function transferTable(
  run: RunContext,
  table: Table,
  direction: SyncDirection,
  twoWay: TwoWay | null,
): Promise<TransferOutcome> {
  const report = new TransferReport(run, table.name, direction);
  let lease: RunLease;
  try {
    lease = run.isDryRun
      ? new RunLease(run.stop)
      : await holdLease(run.deps, transferLeaseName(direction, table.name), run.runId, run.stop);
  } catch (error) {
    return { totals: null, error };
  }
  const ended = new AbortController();
  const calls = new RemoteCalls(run.deps, AbortSignal.any([lease.signal, ended.signal]));
  const transfer: TableTransfer = { run, table, direction, twoWay, lease, calls, report };
  try {
    if (run.isDryRun) await countTransfer(transfer);
    else if (direction === "push") await pushTable(transfer);
    else await pullTable(transfer);
    report.done();
    return { totals: report.totals(), error: null };
  } catch (error) {
    return { totals: report.totals(), error };
  } finally {
    // Requests that were made in advance may still be under way.
    ended.abort();
    await lease.release();
  }
}

/** Counts what would move, by the same markers, what was rejected before too. Nothing is written. D-4.11. */
async function countTransfer(transfer: TableTransfer): Promise<void> {
  const { direction, report } = transfer;
  const clocks = await readClocks(transfer);
  const markers = await openMarkers(transfer, direction, clocks);
  const waiting = await readWaiting(transfer, direction);
  const counted =
    direction === "push"
      ? await countUnknownThere(transfer, clocks, markers.start)
      : await countPull(transfer, markers.start);
  const rows = waiting.length + counted;
  report.start(rows);
  if (rows > 0) report.batch({ rows, accepted: rows, rejected: 0, batchRows: rows });
}

/** Rows that a push would send: in a run in both directions not those that the remote has as they are, or later. */
async function countUnknownThere(
  transfer: TableTransfer,
  clocks: Clocks,
  marker: string | null,
): Promise<number> {
  const { run, table } = transfer;
  const sinceTime = marker === null ? null : parseDateTime(marker);
  if (transfer.twoWay === null) return await countPush(run.deps.rows, table, sinceTime);
  const changes = await lookForRemoteChanges(transfer, clocks);
  const reader = new PushReader(
    run.deps.rows,
    table,
    sinceTime,
    new BatchSize(run.deps.maxPageRows),
  );
  for (let counted = 0; ; ) {
    const { rows, isLast } = await reader.read();
    counted += rows.filter((row) => !changes.isThere(row)).length;
    if (isLast || rows.length === 0) return counted;
  }
}

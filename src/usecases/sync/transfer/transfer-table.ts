import type { AppError } from "../../../domain/shared/errors.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import { RemoteCalls } from "../shared/call-remote.ts";
import { shakeHands } from "../shared/handshake.ts";
import { holdLease, RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import type { RemoteTable, RunContext } from "../shared/run-context.ts";
import { openMarkers, type TableTransfer } from "./begin-transfer.ts";
import { doDeletesTravel, requireKnownHere, requireKnownThere } from "./delete-places.ts";
import { fetchDeletes } from "./fetch-deletes.ts";
import { columnHistory, type Meeting } from "./meeting.ts";
import { pullTable } from "./pull-table.ts";
import { pushTable } from "./push-table.ts";
import { countPull } from "./remote-pages.ts";
import { sendDeletes } from "./send-deletes.ts";
import { TableRejections } from "./table-rejections.ts";
import { TransferMemory } from "./transfer-memory.ts";
import { TransferReport, type TransferTotals } from "./transfer-report.ts";

interface TransferOutcome {
  /** What it did, also when it failed; null when it never began. */
  readonly totals: TransferTotals | null;
  /** Why it failed, as it was thrown; null when it ended well. */
  readonly error: unknown;
  /** Why deletes stayed behind though the rows moved; null when they did not. */
  readonly deletesError?: AppError | null;
}

/** Moves one table in one direction under its lease, or counts what would move. Never rejects. D-4.8. */
export async function transferTable(
  run: RunContext,
  meeting: Meeting,
  direction: SyncDirection,
): Promise<TransferOutcome> {
  const { deps } = run;
  const { table } = meeting;
  const report = new TransferReport(run, table.name, direction);
  let lease: RunLease;
  try {
    lease = run.isDryRun
      ? new RunLease(run.stop)
      : await holdLease(deps, transferLeaseName(direction, table.name), run.runId, run.stop);
  } catch (error) {
    return { totals: null, error };
  }
  const ended = new AbortController();
  const signal = AbortSignal.any([lease.signal, ended.signal]);
  const calls = new RemoteCalls(deps, signal, (retry) =>
    run.publish({ type: "retry", table: table.name, direction, ...retry }),
  );
  try {
    const begun = await beginTransfer({ run, table, calls }, meeting, direction);
    const transfer = { run, table, direction, lease, calls, report, ...begun };
    const deletesError = await moveDeletes(transfer);
    if (direction === "push") await pushTable(transfer);
    else if (run.isDryRun) await countPulled(transfer);
    else await pullTable(transfer);
    report.done();
    return { totals: report.totals(), error: null, deletesError };
  } catch (error) {
    return { totals: report.totals(), error };
  } finally {
    // Requests that were made in advance may still be under way.
    ended.abort();
    await lease.release();
  }
}

/** Where a transfer begins, by what was kept when it got its lease. Throws `sync_failed` when a pull has to come before. */
export async function beginTransfer(
  source: RemoteTable,
  meeting: Meeting,
  direction: SyncDirection,
) {
  const { run, table } = source;
  const memory = await TransferMemory.read(run, table, meeting.handshake);
  const { kept } = memory;
  const { added, silent, pushProblem } = columnHistory(meeting, direction, kept);
  // A dry run of both counts as if the pull before it had ended.
  const isPulledBefore = run.isDryRun && run.directions.includes("pull");
  if (direction === "push" && pushProblem !== null && !isPulledBefore) {
    throw pushProblem;
  }
  const { marker: _, lateMark: __, ...anew } = kept[direction];
  const last = added.length === 0 ? kept : { ...kept, [direction]: anew };
  const lateAfter = run.isFull ? null : (kept.pull.lateMark ?? null);
  const handshake =
    direction === "push" || isToDate(run, meeting, lateAfter)
      ? meeting.handshake
      : await shakeHands(source, lateAfter);
  const conflict = run.isForced ? null : ("newer" as const);
  const { columns, readAhead } = meeting;
  return { handshake, memory, last, conflict, columns, added, silent, readAhead };
}

/**
 * True when a pull can go by what the meeting heard of late rows. Not so when another run has kept a mark since; nor when all
 * rows are read: a mark from before the push in this run would let the next pull read again what that has sent.
 */
function isToDate(run: RunContext, meeting: Meeting, lateAfter: string | null): boolean {
  const isPushedBefore = run.directions.length > 1 && meeting.handshake.schema !== null;
  return lateAfter === meeting.lateAfter && (lateAfter !== null || !isPushedBefore);
}

/**
 * Moves tombstones in the direction of a transfer, before its rows: a push sends those of this deployment, a pull fetches
 * those of the remote. A dry run counts what they would remove. Resolves to why they stayed behind though the rows can
 * move, as more rows would be deleted than may be; null when all went. Throws `sync_failed`, before anything has moved,
 * when deletes may have been missed at either end. D-7.6.
 */
async function moveDeletes(transfer: TableTransfer): Promise<AppError | null> {
  if (!doDeletesTravel(transfer.table, transfer.handshake)) return null;
  await requireKnownHere(transfer);
  if (transfer.direction === "pull") return await fetchDeletes(transfer);
  await requireKnownThere(transfer);
  return await sendDeletes(transfer);
}

/** Counts what a pull would bring, by the same markers, and what was rejected before. Nothing is written. D-4.11. */
async function countPulled(transfer: TableTransfer): Promise<void> {
  const { handshake, report } = transfer;
  const markers = openMarkers(transfer, handshake.schema?.late ?? null);
  const { waiting } = await TableRejections.open(transfer);
  const rows = waiting.length + (await countPull(transfer, markers.start));
  report.start(rows);
  if (rows === 0) return;
  report.batch({ rows, accepted: rows, rejected: 0, kept: 0, changed: 0, batchRows: rows });
}

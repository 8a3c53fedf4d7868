// The transfer of one table in one direction, and of one rejected record by the same way. D-4.6, D-4.8.
import { AppError, assert } from "../../../domain/shared/errors.ts";
import { columnsNow, requireMoved } from "../../../domain/sync/run/compare-schemas.ts";
import type { RejectedRecord } from "../../../domain/sync/run/rejections.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import {
  holdLease,
  noLease,
  type RunLease,
  transferLeaseName,
  tryLease,
} from "../shared/hold-lease.ts";
import { RemoteTable } from "../shared/remote-table.ts";
import { openRun, type RunContext, TransferReport } from "../shared/run-context.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { moveDeletes } from "./move-deletes.ts";
import { countPulled, pullTable } from "./pull-table.ts";
import { pushAgain, pushTable } from "./push-table.ts";
import {
  checkRemote,
  columnHistory,
  type RemoteCheck,
  readMemory,
  shakeHands,
} from "./remote-check.ts";
import { TableRejections } from "./table-rejections.ts";
import { type Transfer, transferOf } from "./transfer.ts";
import { RecordWriter } from "./write-records.ts";

/**
 * Moves one table in the direction of a report, under its lease, or counts what would move. Resolves to why deletes stayed behind
 * though the rows moved; null when they did not. D-4.8.
 */
export async function transferTable(
  check: RemoteCheck,
  report: TransferReport,
): Promise<AppError | null> {
  const { run, table } = check.remote;
  const { direction } = report;
  const lease = run.isDryRun
    ? noLease(run.stop)
    : await holdLease(run.deps, transferLeaseName(direction, table.name), run.runId, run.stop);
  const ended = new AbortController();
  const signal = AbortSignal.any([lease.signal, ended.signal]);
  const remote = new RemoteTable(run, table, signal, direction);
  remote.columns = check.remote.columns;
  try {
    const transfer = await openTransfer(check, remote, lease, report);
    const deletesError = await moveDeletes(transfer);
    if (direction === "push") await pushTable(transfer);
    else if (run.isDryRun) await countPulled(transfer);
    else await pullTable(transfer);
    // S-6 gives a table `done` or `error`.
    if (deletesError === null) report.done();
    return deletesError;
  } finally {
    // Requests that were made in advance may still be under way.
    ended.abort();
    await lease.release();
  }
}

/** A transfer begins by what was kept when it got its lease. Throws `sync_failed` when a pull has to come before. */
async function openTransfer(
  check: RemoteCheck,
  remote: RemoteTable,
  lease: RunLease,
  report: TransferReport,
): Promise<Transfer> {
  const { run, table } = remote;
  const { direction } = report;
  assert(run.isDryRun || lease.claim !== null, "Only a dry run goes without a lease");
  const memory = await readMemory(remote, check.handshake);
  const { kept } = memory;
  const { added, silent, pushProblem } = columnHistory(table, check.columns, direction, kept);
  // A dry run of both counts as if the pull before it had ended.
  const isPulledBefore = run.isDryRun && run.directions.includes("pull");
  if (direction === "push" && pushProblem !== null && !isPulledBefore) {
    throw pushProblem;
  }
  // Of both the pull came first, unless another run has left a column out since the check.
  if (direction === "push" && run.directions.includes("pull") && !run.isDryRun) {
    requireMoved(table.name, check.columns, [], kept.pull.columns);
  }
  const { marker: _, lateMark: __, ...anew } = kept[direction];
  const lateAfter = run.isFull ? null : (kept.pull.lateMark ?? null);
  const isAskedAgain = direction === "pull" && !isToDate(run, check, lateAfter);
  const isPushed = run.directions.includes("push");
  return {
    ...transferOf(check, lease, report, run.isForced ? "overwrite" : "newer"),
    remote,
    handshake: isAskedAgain
      ? await shakeHands(remote, isPushed, lateAfter, check.handshake.clocks.ownTime)
      : check.handshake,
    memory,
    last: added.length === 0 ? kept : { ...kept, [direction]: anew },
    added,
    silent,
  };
}

/**
 * True when a pull can go by what the check heard of late rows. Not so when another run has kept a mark since; nor when all
 * rows are read: a mark from before the push in this run would let the next pull read again what that has sent.
 */
function isToDate(run: RunContext, check: RemoteCheck, lateAfter: string | null): boolean {
  const isPushedBefore = run.directions.length > 1 && check.handshake.schema !== null;
  return lateAfter === check.lateAfter && (lateAfter !== null || !isPushedBefore);
}

/**
 * Writes a pulled record here, for which no remote is needed, or sends a pushed one there. Whether it was rejected again is
 * told by its entry. Resolves to true when it was dropped instead, as the row here stays. Throws `conflict` when a run moves the
 * table in the direction, and what keeps a run from moving it: `sync_misconfigured`, `sync_failed`. D-7.7, D-9.5.
 */
export async function retryRecord(
  deps: SyncDeps,
  table: Table,
  entry: RejectedRecord,
  stop: AbortSignal,
): Promise<boolean> {
  const { direction } = entry;
  const name = transferLeaseName(direction, table.name);
  const runId = deps.ids.next();
  const run = direction === "pull" ? null : openRun({ directions: ["push"], runId, deps, stop });
  stop.throwIfAborted();
  const lease = await tryLease(deps, name, runId, stop);
  if ("heldBy" in lease) {
    const text = `Run ${lease.heldBy} holds "${name}"`;
    throw new AppError("conflict", text, { hint: "Try again later" });
  }
  try {
    if (run === null) return await writeHere(deps, table, entry, lease);
    await sendThere(run, table, entry, lease);
    return false;
  } finally {
    await lease.release();
  }
}

async function writeHere(
  deps: SyncDeps,
  table: Table,
  entry: RejectedRecord,
  lease: RunLease,
): Promise<boolean> {
  const kept = await deps.memory.read(table.name);
  const columns = columnsNow(table, []);
  const { silent } = columnHistory(table, columns, "pull", kept);
  const rules = { direction: "pull", memory: null, conflict: "newer" } as const;
  // Columns that are new here are filled by the next run.
  const own = { deps, table, lease, ...rules, columns, added: [], silent };
  const writer = new RecordWriter(own, await TableRejections.open(own, entry));
  const { changed, kept: stayed, erased } = await writer.retry([entry.record ?? entry.key]);
  deps.traffic?.addRows(changed);
  return stayed + erased > 0;
}

async function sendThere(
  run: RunContext,
  table: Table,
  entry: RejectedRecord,
  lease: RunLease,
): Promise<void> {
  const remote = new RemoteTable(run, table, lease.signal);
  const check = await checkRemote(remote, true);
  if (check.pushProblem !== null) throw check.pushProblem;
  const report = new TransferReport(run, table.name, "push");
  await pushAgain(await openTransfer(check, remote, lease, report), entry);
}

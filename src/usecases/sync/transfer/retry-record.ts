// Tries one rejected record again, by the same way as a run does before anything else. D-4.6, D-7.7, D-9.5.
import { AppError } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { columnsNow } from "../../../domain/sync/run/known-columns.ts";
import type { RejectedRecord } from "../../../domain/sync/run/rejections.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { RemoteCalls } from "../shared/call-remote.ts";
import { type RunLease, transferLeaseName, tryLease } from "../shared/hold-lease.ts";
import type { RunContext } from "../shared/run-context.ts";
import { openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { RecordWriter } from "./apply-records.ts";
import { columnHistory, meetRemote } from "./meeting.ts";
import { pushAgain } from "./push-table.ts";
import { TransferReport } from "./transfer-report.ts";
import { beginTransfer } from "./transfer-table.ts";

/** A table, and a record of it that one end rejected. */
export interface RetriedRecord {
  readonly table: Table;
  readonly entry: RejectedRecord;
}

/**
 * Writes a pulled record here, for which no remote is needed, or sends a pushed one there. Whether it was rejected again is
 * told by its entry. Resolves to true when it was dropped instead, as the row here stays. Throws `conflict` when a run moves the table in the direction, and what keeps a run from moving it:
 * `sync_misconfigured`, `sync_failed`.
 */
export async function retryRecord(
  deps: SyncDeps,
  record: RetriedRecord,
  stop: AbortSignal,
): Promise<boolean> {
  const name = transferLeaseName(record.entry.direction, record.table.name);
  const runId = deps.ids.next();
  const run = record.entry.direction === "push" ? contextOf(deps, runId, stop) : null;
  stop.throwIfAborted();
  const lease = await tryLease(deps, name, runId, stop);
  if ("heldBy" in lease) {
    const text = `Run ${lease.heldBy} holds "${name}"`;
    throw new AppError("conflict", text, { hint: "Try again later" });
  }
  try {
    if (run === null) return await writeHere(deps, record, lease);
    await sendThere(run, record, lease);
    return false;
  } finally {
    await lease.release();
  }
}

/** Throws `sync_misconfigured`. */
function contextOf(deps: SyncDeps, runId: string, stop: AbortSignal): RunContext {
  return {
    runId,
    deps,
    remote: openRemote(deps),
    directions: ["push"],
    isFull: false,
    stop,
    isForced: false,
    maxDeletes: null,
    isDryRun: false,
    startedAt: formatMs(deps.clock.nowMs()),
    publish: () => {},
  };
}

async function writeHere(
  deps: SyncDeps,
  { table, entry }: RetriedRecord,
  lease: RunLease,
): Promise<boolean> {
  const columns = columnsNow(table, []);
  const { silent } = columnHistory({ table, columns }, "pull", await deps.memory.read(table.name));
  const writer = await RecordWriter.open(
    {
      run: { deps, isDryRun: false },
      table,
      direction: "pull",
      lease,
      silent,
      // Columns that are new here are filled by the next run.
      conflict: "newer",
      added: [],
      memory: null,
    },
    [entry],
  );
  const { changed, kept, erased } = await writer.retry([entry.record ?? entry.key]);
  deps.traffic?.addRows(changed);
  return kept.length + erased > 0;
}

async function sendThere(
  run: RunContext,
  { table, entry }: RetriedRecord,
  lease: RunLease,
): Promise<void> {
  const meeting = await meetRemote(run, table);
  if (meeting.pushProblem !== null) throw meeting.pushProblem;
  const calls = new RemoteCalls(run.deps, lease.signal);
  const begun = await beginTransfer({ run, table, calls }, meeting, "push");
  const report = new TransferReport(run, table.name, "push");
  await pushAgain({ run, table, direction: "push", lease, calls, report, ...begun }, entry);
}

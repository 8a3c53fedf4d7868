import { dateTimeMs, formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import { type SyncDirection, startOfDay } from "../../../domain/sync/run/marker.ts";
import { type Row, type Table, timestampColumnOf } from "../../../domain/sync/table/table.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { findTable } from "../pages/pull-page.ts";
import { startRemoteCalls } from "../shared/call-remote.ts";
import { holdLease, type RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import { openRemote, type Remote, type SyncDeps } from "../shared/sync-deps.ts";
import { asSyncError } from "../shared/sync-error.ts";
import { startTransferReport } from "../shared/transfer-report.ts";
import { openRefusals } from "../transfer/refusal-book.ts";
import { lagSecondsOf, readClocks, type Transfer } from "../transfer/transfer.ts";
import { compareByDigest } from "./compare-by-digest.ts";
import { compareByPages } from "./compare-by-pages.ts";
import { type CompareResult, type Repair, startFindings } from "./compare-findings.ts";
import type { Comparison } from "./comparison.ts";

/** What to compare. D-4.10. */
export interface CompareRequest {
  readonly tableName: string;
  /** Which way rows that differ are to go; null to change nothing. */
  readonly repair: SyncDirection | null;
}

/**
 * Compares a table with the remote's, row by row where digests do not prove ranges of it equal, and repairs it where
 * that is asked. Throws `unknown_table`, `sync_misconfigured` and `sync_failed`. D-4.10.
 */
export async function compareTables(
  deps: SyncDeps,
  request: CompareRequest,
): Promise<CompareResult> {
  const table = findTable(deps.registry, request.tableName);
  const remote = openRemote(deps);
  const runId = deps.ids.next();
  try {
    if (request.repair === null) return await compare(deps, { table, remote, repair: null });
    const name = transferLeaseName(request.repair, table.name);
    const lease = await holdLease(deps, { name, runId, stop: new AbortController().signal });
    try {
      const repair = { direction: request.repair, lease };
      return await compare(deps, { table, remote, repair });
    } finally {
      await lease.release();
    }
  } catch (error) {
    deps.logger.error("Comparison failed", error, { table: table.name });
    throw asSyncError(error);
  }
}

async function compare(
  deps: SyncDeps,
  subject: {
    readonly table: Table;
    readonly remote: Remote;
    readonly repair: { readonly direction: SyncDirection; readonly lease: RunLease } | null;
  },
): Promise<CompareResult> {
  const { table, remote, repair } = subject;
  const signal = repair?.lease.signal ?? new AbortController().signal;
  const calls = startRemoteCalls(deps, signal);
  const clocks = await readClocks({ deps, remote, calls, table });
  const earlierMs = Math.min(dateTimeMs(clocks.ownTime), dateTimeMs(clocks.remoteTime));
  const lagStartMs = earlierMs - lagSecondsOf({ deps, table }) * 1000;
  const isByDays = timestampColumnOf(table)?.type === "date";
  const youngFromMs = isByDays ? startOfDay(lagStartMs) : lagStartMs;
  const comparison = {
    ...{ deps, table, remote, calls, clocks, signal, youngFromMs },
    isYoung: (row: Row | null) => timeMs(table, row) >= youngFromMs,
  };
  const opened = repair === null ? null : await openRepair(comparison, repair);
  const findings = startFindings(opened);
  const compared = { ...comparison, findings };
  if (!(await tryDigests(compared))) await compareByPages(compared);
  return await findings.finish();
}

/** Resolves to false, with nothing counted, for a remote that has no digests, or other ones. */
async function tryDigests(comparison: Comparison): Promise<boolean> {
  try {
    return await compareByDigest(comparison);
  } catch (error) {
    if (error instanceof RemotePeerError) return false;
    throw error;
  }
}

async function openRepair(
  comparison: Omit<Comparison, "findings">,
  repair: { readonly direction: SyncDirection; readonly lease: RunLease },
): Promise<Repair> {
  const { deps, table } = comparison;
  const { direction } = repair;
  const subject = { table: table.name, direction };
  const transfer: Transfer = {
    ...{ ...comparison, ...repair },
    report: startTransferReport(subject, { clock: deps.clock, publish: () => {} }),
    isFull: false,
    twoWay: null,
    startedAt: formatMs(deps.clock.nowMs()),
  };
  return { transfer, refusals: await openRefusals(transfer) };
}

/** Minus infinity for a row without a timestamp, whose age nobody knows. */
function timeMs(table: Table, row: Row | null): number {
  const value = table.timestampColumn === null ? null : row?.[table.timestampColumn];
  const time = typeof value === "string" ? parseDateTime(value) : null;
  return time === null ? Number.NEGATIVE_INFINITY : dateTimeMs(time);
}

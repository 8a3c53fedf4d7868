import { dateTimeMs, formatMs } from "../../../domain/shared/time.ts";
import { type SyncDirection, startOfDay } from "../../../domain/sync/run/marker.ts";
import { findTable, type Table, timestampColumnOf } from "../../../domain/sync/table/table.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { RemoteCalls } from "../shared/call-remote.ts";
import { holdLease, transferLeaseName } from "../shared/hold-lease.ts";
import type { RemoteTable, RunContext } from "../shared/run-context.ts";
import { asSyncError, openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { type Clocks, lagSecondsOf, readClocks } from "../transfer/begin-transfer.ts";
import { TransferReport } from "../transfer/transfer-report.ts";
import { DigestComparison } from "./compare-by-digest.ts";
import { PageComparison } from "./compare-by-pages.ts";
import { type CompareResult, type Comparison, Findings, Repair } from "./comparison.ts";

interface CompareRequest {
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
  const run: RunContext = {
    runId: deps.ids.next(),
    deps,
    remote: openRemote(deps),
    isFull: false,
    isDryRun: false,
    startedAt: formatMs(deps.clock.nowMs()),
    stop: new AbortController().signal,
    publish: () => {},
  };
  try {
    if (request.repair === null) {
      const calls = new RemoteCalls(deps, run.stop);
      return await compare({ run, table, calls }, run.stop, null);
    }
    return await compareAndRepair(run, table, request.repair);
  } catch (error) {
    deps.logger.error("Comparison failed", error, { table: table.name });
    throw asSyncError(error);
  }
}

async function compareAndRepair(
  run: RunContext,
  table: Table,
  direction: SyncDirection,
): Promise<CompareResult> {
  const name = transferLeaseName(direction, table.name);
  const lease = await holdLease(run.deps, name, run.runId, run.stop);
  try {
    const calls = new RemoteCalls(run.deps, lease.signal);
    const report = new TransferReport(run, table.name, direction);
    const transfer = { run, table, direction, lease, calls, report, twoWay: null };
    return await compare(transfer, lease.signal, await Repair.open(transfer));
  } finally {
    await lease.release();
  }
}

async function compare(
  source: RemoteTable,
  signal: AbortSignal,
  repair: Repair | null,
): Promise<CompareResult> {
  const { run, table, calls } = source;
  const clocks = await readClocks(source);
  const youngFromMs = youngFrom(run.deps, table, clocks);
  const findings = new Findings(repair);
  const comparison: Comparison = { run, table, calls, clocks, findings, signal, youngFromMs };
  if (!(await tryDigests(comparison))) await new PageComparison(comparison).run();
  return await findings.finish();
}

/** From when on rows may still be on their way, in ms since 1970: the allowance before the clock that is behind. */
function youngFrom(deps: SyncDeps, table: Table, clocks: Clocks): number {
  const earlierMs = Math.min(dateTimeMs(clocks.ownTime), dateTimeMs(clocks.remoteTime));
  const lagStartMs = earlierMs - lagSecondsOf(deps, table) * 1000;
  return timestampColumnOf(table)?.type === "date" ? startOfDay(lagStartMs) : lagStartMs;
}

/** Resolves to false, with nothing counted, for a remote that has no digests, or other ones. */
async function tryDigests(comparison: Comparison): Promise<boolean> {
  try {
    return await new DigestComparison(comparison).run();
  } catch (error) {
    if (error instanceof RemotePeerError) return false;
    throw error;
  }
}

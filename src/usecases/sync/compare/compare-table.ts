import { dateTimeMs } from "../../../domain/shared/time.ts";
import { columnsNow } from "../../../domain/sync/run/known-columns.ts";
import {
  SYNC_DIRECTIONS,
  type SyncDirection,
  startOfDay,
} from "../../../domain/sync/run/marker.ts";
import type { CompareRepair } from "../../../domain/sync/run/run.ts";
import { compareDirections, lacksOwner, ownerError } from "../../../domain/sync/run/table-owner.ts";
import {
  type ConflictRule,
  type Table,
  timestampColumnOf,
} from "../../../domain/sync/table/table.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { RemoteCalls } from "../shared/call-remote.ts";
import { type Clocks, type Handshake, shakeHands } from "../shared/handshake.ts";
import { holdLease, type RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import type { RemoteTable, RunContext } from "../shared/run-context.ts";
import { RecordWriter } from "../transfer/apply-records.ts";
import { areDeletesKnown, DeletePlacesNow } from "../transfer/delete-places.ts";
import { DeletesReadAhead, requireComparable } from "../transfer/meeting.ts";
import { otherRemoteText, TransferMemory } from "../transfer/transfer-memory.ts";
import { TransferReport } from "../transfer/transfer-report.ts";
import { DigestComparison } from "./compare-by-digest.ts";
import { PageComparison } from "./compare-by-pages.ts";
import {
  type CompareResult,
  type Comparison,
  Findings,
  type OnExample,
  type OnProgress,
} from "./comparison.ts";
import { Repair } from "./repair.ts";
import { RepairHere, RepairThere, type RepairTransfer, requireDeletes } from "./repair-ends.ts";

export interface ComparePlan {
  /** Which way rows that differ are to go; null to change nothing. */
  readonly repair: CompareRepair | null;
  /** Removes what only the end being repaired has. Only with `push` or `pull`. */
  readonly deletes: boolean;
  /** Instead of the table's own limit; null for that. */
  readonly maxDeletes: number | null;
  /** Overwrites rows that their table would keep. Only with `push` or `pull`. */
  readonly isForced: boolean;
  readonly onExample: OnExample;
  readonly onProgress: OnProgress;
}

/**
 * Compares a table with the remote's, row by row where digests do not prove ranges of it equal, and repairs it where
 * that is asked. Throws `AppError`, the stop signal's reason among them. D-4.10.
 */
export async function compareTable(
  run: RunContext,
  table: Table,
  plan: ComparePlan,
): Promise<CompareResult> {
  if (plan.repair !== null) {
    return await compareAndRepair(run, table, plan, ownersRepair(table, plan.repair));
  }
  const calls = new RemoteCalls(run.deps, run.stop);
  const handshake = await shakeHands({ run, table, calls }, null);
  await requireComparable({ run, table, calls }, handshake, false);
  const findings = new Findings({ repair: null, ...findingsOf(run, table, plan) });
  return await compare({ run, table, calls, handshake }, run.stop, findings);
}

function findingsOf({ deps }: RunContext, table: Table, plan: ComparePlan) {
  const { onExample, onProgress } = plan;
  return { table, names: deps.names, nowMs: deps.clock.nowMs(), onExample, onProgress };
}

/** Without times the newest rows are those of the owner. D-11.9. */
function ownersRepair({ timestampColumn, direction }: Table, repair: CompareRepair): CompareRepair {
  return repair === "newest" && timestampColumn === null ? (direction ?? repair) : repair;
}

/** Throws `sync_failed` when each end says that it, or that the other one, owns the rows. D-11.9. */
function requireOneOwner({ run, table }: RemoteTable, { schema }: Handshake): void {
  const { problem } = compareDirections(table, schema, run.deps.deploymentId);
  if (problem !== null) throw ownerError(problem, [table.name]);
}

/** Holds the leases of all runs that write where the repair does. */
async function compareAndRepair(
  run: RunContext,
  table: Table,
  plan: ComparePlan,
  repair: CompareRepair,
): Promise<CompareResult> {
  const directions = repair === "newest" ? SYNC_DIRECTIONS : [repair];
  const leases = new Map<SyncDirection, RunLease>();
  try {
    for (const direction of directions) {
      const name = transferLeaseName(direction, table.name);
      leases.set(direction, await holdLease(run.deps, name, run.runId, run.stop));
    }
    const signal = AbortSignal.any([...leases.values()].map((lease) => lease.signal));
    const calls = new RemoteCalls(run.deps, signal);
    const handshake = await shakeHands({ run, table, calls }, null);
    await requireComparable({ run, table, calls }, handshake, leases.has("push"));
    if (repair !== plan.repair) requireOneOwner({ run, table, calls }, handshake);
    const source = { run, table, calls, handshake };
    const memory = await TransferMemory.read(run, table, handshake);
    if (memory.isOther) run.deps.logger.warn(otherRemoteText(table), { table: table.name });
    const rule = {
      ...{
        columns: columnsNow(table, []),
        added: [],
        silent: [],
        readAhead: new DeletesReadAhead(),
      },
      memory,
      last: memory.kept,
    };
    const openEnd = async (direction: SyncDirection): Promise<RepairTransfer | null> => {
      const lease = leases.get(direction);
      if (lease === undefined) return null;
      const report = new TransferReport(run, table.name, direction);
      const conflict = conflictOf(repair, plan.isForced, direction, handshake);
      const transfer = { ...source, ...rule, conflict, direction, lease, report };
      return { transfer, writer: await RecordWriter.open(transfer) };
    };
    if (plan.deletes) requireDeletes(table, handshake);
    const [push, pull] = [await openEnd("push"), await openEnd("pull")];
    const ends = {
      here: pull === null ? null : new RepairHere(pull, plan.maxDeletes),
      there: push === null ? null : new RepairThere(push, plan.maxDeletes),
    };
    const transfers = [push, pull].filter((end) => end !== null).map((end) => end.transfer);
    const [first] = transfers;
    const copiesMissing = first === undefined || (await areDeletesKnown(first));
    const [only] = transfers.length === 1 ? transfers : [];
    const places = only === undefined ? null : await DeletePlacesNow.read(only);
    const rules = { repair, deletes: plan.deletes, copiesMissing, ranksRows: !lacksOwner(table) };
    const findings = new Findings({
      repair: new Repair(table, rules, ends, run.deps.clock.nowMs()),
      ...findingsOf(run, table, plan),
    });
    const result = await compare(source, signal, findings);
    run.deps.traffic?.addRows(result.repaired ?? 0);
    await places?.keep();
    return result;
  } finally {
    for (const lease of leases.values()) await lease.release();
  }
}

/** A repair in one direction overwrites what the table at the end that is written to does not keep. D-11.10. */
function conflictOf(
  repair: CompareRepair,
  isForced: boolean,
  direction: SyncDirection,
  { schema }: Handshake,
): ConflictRule | null {
  if (repair === "newest") return "newer";
  if (isForced) return "overwrite";
  if (direction === "pull") return null;
  return schema?.conflict ?? "overwrite";
}

async function compare(
  source: RemoteTable & { readonly handshake: Handshake },
  signal: AbortSignal,
  findings: Findings,
): Promise<CompareResult> {
  const { run, table, calls } = source;
  const { clocks } = source.handshake;
  const youngFromMs = youngFrom(table, clocks);
  const comparison: Comparison = { run, table, calls, clocks, findings, signal, youngFromMs };
  if (!(await tryDigests(comparison))) await new PageComparison(comparison).run();
  return await findings.finish();
}

/** From when on rows may still be on their way, in ms since 1970: the allowance before the clock that is behind. */
function youngFrom(table: Table, clocks: Clocks): number {
  const earlierMs = Math.min(dateTimeMs(clocks.ownTime), dateTimeMs(clocks.remoteTime));
  const lagStartMs = earlierMs - table.lagSeconds * 1000;
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

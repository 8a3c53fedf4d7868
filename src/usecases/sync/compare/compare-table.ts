import { dateTimeMs } from "../../../domain/shared/time.ts";
import { startMs } from "../../../domain/sync/rows/row-time.ts";
import {
  type CompareRepair,
  SYNC_DIRECTIONS,
  type SyncDirection,
} from "../../../domain/sync/run/run.ts";
import { lacksOwner, ownerError } from "../../../domain/sync/run/table-owner.ts";
import type { ConflictRule, Table } from "../../../domain/sync/table/table.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import { holdLease, type RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import { RemoteTable } from "../shared/remote-table.ts";
import { type RunContext, TransferReport } from "../shared/run-context.ts";
import { areDeletesKnown, placesNow } from "../transfer/delete-places.ts";
import { checkRemote, otherRemoteText, type RemoteCheck } from "../transfer/remote-check.ts";
import { TableRejections } from "../transfer/table-rejections.ts";
import { commitExtras, transferOf } from "../transfer/transfer.ts";
import { DigestComparison } from "./compare-by-digest.ts";
import { PageComparison } from "./compare-by-pages.ts";
import { type ComparePlan, type CompareResult, type CompareWatch, Findings } from "./comparison.ts";
import { Repair } from "./repair.ts";
import { type RepairEnd, RepairHere, RepairThere, requireDeletesAtBoth } from "./repair-ends.ts";

/** Compares row by row where digests do not prove ranges equal. Throws `AppError`, also the stop signal's reason. D-4.10. */
export async function compareTable(
  run: RunContext,
  table: Table,
  plan: ComparePlan,
  watch: CompareWatch,
): Promise<CompareResult> {
  const { deletes = false } = plan;
  const isOwners = plan.repair === "newest" && table.timestampColumn === null;
  // Without times the newest rows are those of the owner. D-11.9.
  const repair = isOwners ? (table.direction ?? plan.repair) : plan.repair;
  const directions = repair === "newest" ? SYNC_DIRECTIONS : repair === null ? [] : [repair];
  // The leases of all runs that write where the repair does.
  const leases = new Map<SyncDirection, RunLease>();
  try {
    for (const direction of directions) {
      const name = transferLeaseName(direction, table.name);
      leases.set(direction, await holdLease(run.deps, name, run.runId, run.stop));
    }
    const signals = [...leases.values()].map((lease) => lease.signal);
    const signal = AbortSignal.any([run.stop, ...signals]);
    const check = await checkRemote(new RemoteTable(run, table, signal), leases.has("push"));
    if (repair === null) return await compare(check, watch);
    const { handshake, memory, pushProblem, ownerProblem } = check;
    if (leases.has("push") && pushProblem !== null) throw pushProblem;
    // The owner matters only where it decides which way rows go. D-11.9.
    if (repair !== plan.repair && ownerProblem !== null) {
      throw ownerError(ownerProblem, [table.name]);
    }
    if (memory.isOther) run.deps.logger.warn(otherRemoteText(table), { table: table.name });
    if (deletes) requireDeletesAtBoth(table, handshake);
    const transfers = [...leases].map(([direction, lease]) => {
      const conflict = conflictOf(repair, direction, check);
      return transferOf(check, lease, new TransferReport(run, table.name, direction), conflict);
    });
    const ends: RepairEnd[] = [];
    for (const transfer of transfers) {
      const End = transfer.direction === "pull" ? RepairHere : RepairThere;
      ends.push(new End(transfer, await TableRejections.open(transfer)));
    }
    const [first] = transfers;
    const copiesMissing = first === undefined || (await areDeletesKnown(first));
    const [only] = transfers.length === 1 ? transfers : [];
    const places = only === undefined ? {} : await placesNow(only);
    const rules = { repair, deletes, copiesMissing, ranksRows: !lacksOwner(table) };
    const repairing = new Repair(table, rules, ends, await storeNowMs(run.deps.documents));
    const result = await compare(check, watch, repairing);
    run.deps.traffic?.addRows(result.repaired ?? 0);
    if (only !== undefined) await commitExtras(only, { memory: places });
    return result;
  } finally {
    for (const lease of leases.values()) await lease.release();
  }
}

/** A repair in one direction overwrites rows, except those that the table at the receiving end keeps. D-11.10. */
function conflictOf(
  repair: CompareRepair,
  direction: SyncDirection,
  { remote, handshake }: RemoteCheck,
): ConflictRule | null {
  if (repair === "newest") return "newer";
  if (remote.run.isForced) return "overwrite";
  if (direction === "pull") return null;
  return handshake.schema?.conflict ?? "overwrite";
}

async function compare(
  { remote, handshake: { clocks } }: RemoteCheck,
  watch: CompareWatch,
  repair: Repair | null = null,
): Promise<CompareResult> {
  const findings = new Findings(remote, repair, watch);
  // Rows may be on their way for the allowance, by the slower clock.
  const earlierMs = Math.min(dateTimeMs(clocks.ownTime), dateTimeMs(clocks.remoteTime));
  const youngFromMs = startMs(remote.table, earlierMs - remote.table.lagSeconds * 1_000);
  const comparison = { remote, findings, youngFromMs };
  const hasDigests = await new DigestComparison(comparison).run().catch((error: unknown) => {
    if (error instanceof RemotePeerError) return false;
    throw error;
  });
  if (!hasDigests) await new PageComparison(comparison, clocks.remoteTime).run();
  return await findings.finish();
}

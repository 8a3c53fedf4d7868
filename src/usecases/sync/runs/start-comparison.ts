// A comparison from its start to its end: listed, cancelled and stopped as runs are. D-4.10, D-7.8.
import { AppError, refuse } from "../../../domain/shared/errors.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import { startMs } from "../../../domain/sync/rows/row-time.ts";
import { type CompareEvent, differenceEvent } from "../../../domain/sync/run/compare-events.ts";
import {
  type CompareCounts,
  type CompareRepair,
  type CompareRun,
  type RunStatus,
  type RunTrigger,
  SYNC_DIRECTIONS,
  type SyncDirection,
} from "../../../domain/sync/run/run.ts";
import { lacksOwner, ownerError } from "../../../domain/sync/run/table-owner.ts";
import { type ConflictRule, findTable, type Table } from "../../../domain/sync/table/table.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import { DigestComparison } from "../compare/compare-by-digest.ts";
import { PageComparison } from "../compare/compare-by-pages.ts";
import {
  type ComparePlan,
  type CompareResult,
  type CompareWatch,
  Findings,
  type OnExample,
} from "../compare/comparison.ts";
import { Repair, type RepairEnd } from "../compare/repair.ts";
import { RepairHere, RepairThere } from "../compare/repair-ends.ts";
import { holdLease, type RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import { RemoteTable } from "../shared/remote-table.ts";
import { openRun, type RunContext, TransferReport } from "../shared/run-context.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import { countRows } from "../shared/sync-status.ts";
import { areDeletesKnown, doDeletesTravel, placesNow } from "../transfer/delete-places.ts";
import {
  checkRemote,
  type Handshake,
  otherRemoteText,
  type RemoteCheck,
  transferOf,
} from "../transfer/open-transfer.ts";
import { TableRejections } from "../transfer/table-rejections.ts";
import { commitExtras } from "../transfer/transfer-commits.ts";
import { StartedWork } from "./started-work.ts";

export interface CompareRequest extends ComparePlan {
  readonly tableName: string;
  readonly trigger: RunTrigger;
  /** The most rows that it may remove; null or absent: the limit of the registry. */
  readonly maxDeletes?: number | null;
  /** Overwrites rows that their table would keep; only with `push` or `pull`. D-11.10. */
  readonly isForced?: boolean;
  readonly onExample?: OnExample;
}

type CompareOutcome =
  | { readonly result: CompareResult; readonly error: null }
  /** `sync_misconfigured` or `sync_failed`. */
  | { readonly result: null; readonly error: AppError };

const NOTHING_FOUND = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
const PROGRESS_MS = 200;

export class StartedComparison extends StartedWork<CompareEvent, CompareRun> {
  /** Never rejects. */
  readonly outcome: Promise<CompareOutcome>;
  readonly #request: CompareRequest;
  #found: CompareCounts = NOTHING_FOUND;
  #outcome: CompareOutcome | null = null;

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome. */
  constructor(deps: SyncDeps, request: CompareRequest) {
    refuseWithoutDirection(request);
    const table = findTable(deps.registry, request.tableName);
    super(deps, { text: "The comparison was stopped", hint: "Start it again" });
    this.#request = request;
    this.outcome = this.#compare(table);
  }

  async #compare(table: Table): Promise<CompareOutcome> {
    const { runId, deps, stopping: stop } = this;
    await this.perform({
      name: "compareRun",
      fields: { "repsync.table": table.name },
      // A comparison reads every row, whatever the marker says, and shows no retries.
      open: () => openRun({ ...this.#request, isFull: true, runId, deps, stop }),
      do: async (run) => {
        const totalRecords = await countRows(run.deps, table);
        this.publish({
          type: "start",
          table: table.name,
          repair: this.#request.repair,
          totalRecords,
        });
        const result = await compareTable(run, table, this.#request, {
          onExample: (difference, pair, key) => {
            this.#request.onExample?.(difference, pair, key);
            this.publish(differenceEvent(difference, key, pair));
          },
          onProgress: (found) => {
            this.#found = found;
            this.atMostEvery(PROGRESS_MS, () => this.#publishProgress());
          },
        });
        const { examples: _, ...found } = result;
        this.#found = found;
        this.#outcome = { result, error: null };
        this.#publishProgress();
        this.publish({ type: "done", table: table.name, ...result });
      },
    });
    if (this.#outcome === null) throw new Error("A comparison that has ended has an outcome");
    return this.#outcome;
  }

  #publishProgress(): void {
    const { matched, different, missingHere, missingThere } = this.#found;
    const rows = matched + different + missingHere + missingThere;
    this.publish({ type: "progress", rows });
  }

  fail(cause: unknown): void {
    const table = this.#request.tableName;
    this.deps.logger.error("Comparison failed", cause, { table });
    const error = asSyncError(cause);
    this.#outcome = { result: null, error };
    this.publish({ type: "error", table, error: error.text });
  }

  get error(): AppError | null {
    return this.#outcome?.error ?? null;
  }

  protected get isPartial(): boolean {
    return false;
  }

  describe(status: RunStatus): CompareRun {
    const { trigger, tableName: table, repair } = this.#request;
    return {
      runId: this.runId,
      kind: "compare",
      trigger,
      status,
      table,
      repair,
      ...this.#found,
      ...this.times(status),
    };
  }
}

/** Throws `invalid_request` where nothing says which end is to lose rows. */
function refuseWithoutDirection({ repair, deletes, isForced }: CompareRequest): void {
  if (repair === "push" || repair === "pull") return;
  const needs = 'Needs `repair` to be "push" or "pull"';
  if (deletes)
    refuse([{ pointer: "/delete", detail: `${needs}: it removes what only that end has` }]);
  if (isForced) refuse([{ pointer: "/force", detail: `${needs}: it overwrites rows of that end` }]);
}

/** Compares row by row where digests do not prove ranges equal. Throws `AppError`, also the stop signal's reason. D-4.10. */
async function compareTable(
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
  await using held = new AsyncDisposableStack();
  for (const direction of directions) {
    const name = transferLeaseName(direction, table.name);
    leases.set(direction, held.use(await holdLease(run.deps, name, run.runId, run.stop)));
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

/** Throws `sync_failed` unless both ends delete rows of the table on request. D-7.6. */
function requireDeletesAtBoth(table: Table, handshake: Handshake): void {
  const hint = 'Set "deletes": true for it in the registry there and here';
  if (!table.deletes) {
    throw new AppError("sync_failed", `Rows of "${table.name}" are not deleted here`, { hint });
  }
  if (!doDeletesTravel(table, handshake)) {
    throw new AppError("sync_failed", `The remote deletes no rows of "${table.name}"`, { hint });
  }
}

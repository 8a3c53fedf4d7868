// A run, top to bottom: the request, each table in turn and in each direction, and the end. S-4.4, S-4.5, D-4.3.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { addedColumns } from "../../../domain/sync/run/compare-schemas.ts";
import type { RunNews, RunRequest, SyncDirection, SyncRun } from "../../../domain/sync/run/run.ts";
import {
  lacksOwner,
  otherWay,
  ownedDirections,
  ownerError,
} from "../../../domain/sync/run/table-owner.ts";
import { BUILT_IN_TABLES } from "../../../domain/sync/table/registry-schema.ts";
import { findTable, requireUsed, type Table } from "../../../domain/sync/table/table.ts";
import type { SyncExtension } from "../../../domain/sync/table/table-schema.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { holdLease, noLease, transferLeaseName } from "../shared/hold-lease.ts";
import { RemoteTable } from "../shared/remote-table.ts";
import { openRun, type RunContext, TransferReport } from "../shared/run-context.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { moveDeletes } from "../transfer/move-deletes.ts";
import {
  checkRemote,
  hasExtension,
  openTransfer,
  type RemoteCheck,
  TableNotThere,
} from "../transfer/open-transfer.ts";
import { countPulled, pullTable } from "../transfer/pull-table.ts";
import { pushTable } from "../transfer/push-table.ts";
import { RunProgress } from "./run-progress.ts";

export interface RunOutcome {
  readonly run: SyncRun;
  /** `sync_misconfigured` or `sync_failed`; null unless the run failed. */
  readonly error: AppError | null;
}

/** What does not happen with a remote that lacks an extension of this service. D-7.2. */
const LACKS: readonly (readonly [SyncExtension, string])[] = [
  ["conflict-newer", "newer rows there are looked for before each push"],
  ["schema", "registries are not compared and late rows there not noticed"],
  ["deletes", "deletes do not travel"],
];

const OF_ALL_TABLES = ["store_unavailable", "commit_failed", "sync_misconfigured"] as const;

export class StartedRun extends RunProgress {
  /** Never rejects. */
  readonly outcome: Promise<RunOutcome>;

  /** Starts it. Throws `unknown_table` and `invalid_request`; every other failure is its outcome and an event. */
  constructor(deps: SyncDeps, request: RunRequest) {
    if (request.isForced && request.direction === "both") {
      const text =
        "Only a push or a pull can be forced: with both, each end would overwrite the other";
      throw new AppError("invalid_request", text);
    }
    const { tableName } = request;
    const { registry } = deps;
    const tables = tableName === null ? [...registry.values()] : [findTable(registry, tableName)];
    super(deps, request);
    this.outcome = this.#run(tables);
  }

  /** Does the whole run. A dry run is in no list. D-4.3, D-4.9, D-4.11. */
  async #run(tables: readonly Table[]): Promise<RunOutcome> {
    const { request, directions, runId, deps, stopping: stop } = this;
    const { direction, trigger, isFull, isDryRun } = request;
    const publish = (news: RunNews) => this.publish(news);
    const run = await this.perform({
      name: "syncRun",
      fields: {
        "repsync.direction": direction,
        "repsync.trigger": trigger,
        "repsync.dry_run": isDryRun,
      },
      open: () => openRun({ ...request, directions, runId, deps, stop, publish }),
      do: async (context) => {
        if (isFull && !isDryRun) {
          const names = tables.map(({ name }) => name);
          await deps.memory.clear(names);
          await deps.exchanged.clear(names);
        }
        for (const table of tables) {
          if (!(await moveTable(context, this, table))) return;
        }
        if (!isDryRun) await this.countEnds(context, tables);
      },
    });
    if (!isDryRun) deps.metrics?.countRun(run);
    deps.logger.info("Sync run finished", {
      status: run.status,
      trigger,
      direction,
      dry_run: isDryRun,
      total_pushed: run.totalPushed,
      total_pulled: run.totalPulled,
      error_count: run.errorCount,
      duration_ms: run.durationMs,
    });
    return { run, error: this.error };
  }

  /** Resolves once every instance can read it. Throws what kept it from beginning: `sync_misconfigured`, `sync_failed`. D-9.5. */
  async begun(): Promise<SyncRun> {
    const ended = await Promise.race([this.whenBegun.promise, this.outcome]);
    if (ended === undefined) return this.describe("running");
    if (ended.error !== null) throw ended.error;
    return ended.run;
  }
}

/** False when the other tables would fail, too; failures go to `progress`. Rejects when the store does not answer. */
async function moveTable(all: RunContext, progress: RunProgress, table: Table): Promise<boolean> {
  const [first = "push"] = all.directions;
  progress.begin(table.name);
  const directions = ownedDirections(table, all.directions, all.isForced);
  if (directions.length === 0) {
    leaveOut(progress, table, first);
    return true;
  }
  const run = { ...all, directions };
  let check: RemoteCheck;
  try {
    requireUsed(all.deps.registry, table.name);
    check = await checkRemote(new RemoteTable(run, table), directions.includes("push"));
  } catch (error) {
    if (error instanceof TableNotThere && (await isPassedOver(run, progress, table))) {
      progress.warn(table.name, `${error.message}, so it is left out`);
      return true;
    }
    progress.fail(error, table.name, first);
    return !concernsAllTables(error, run.stop);
  }
  tellWarnings(progress, check);
  const ownerProblem = check.ownerProblem ?? (await ownerlessProblem(check));
  if (ownerProblem !== null) {
    progress.endUnowned(table, ownerProblem, first);
    return true;
  }
  for (const direction of directionsOf(check)) {
    if (direction === "push" && check.pushProblem !== null) {
      // The table can be pulled all the same.
      progress.fail(check.pushProblem, table.name, direction);
      continue;
    }
    const report = new TransferReport(run, table.name, direction);
    const fields = { "repsync.table": table.name };
    try {
      const deletesError = await run.deps.tracing
        .inSpan(`${direction}Table`, () => transferTable(check, report), { fields })
        .finally(() => progress.add(table.name, report.result()));
      if (deletesError !== null) progress.fail(deletesError, table.name, direction);
    } catch (error) {
      progress.fail(error, table.name, direction);
      // Rows that were not pushed must not be overwritten by a pull.
      return !concernsAllTables(error, run.stop);
    }
  }
  return true;
}

/** Under its lease, or counts what would move. Resolves to the error when only deletes stayed behind; otherwise to null. D-4.8. */
async function transferTable(check: RemoteCheck, report: TransferReport): Promise<AppError | null> {
  const { run, table } = check.remote;
  const { direction } = report;
  await using lease = run.isDryRun
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
  }
}

/** A run of all tables passes over a built-in one without rows that the remote lacks: no registry can leave it out. D-2.3. */
async function isPassedOver(
  { deps }: RunContext,
  { request }: RunProgress,
  table: Table,
): Promise<boolean> {
  const isBuiltIn = request.tableName === null && Object.hasOwn(BUILT_IN_TABLES, table.name);
  return isBuiltIn && (await deps.tables.count(table)) === 0;
}

/** A table that goes the other way only: a run that names it fails, one of all tables passes over it. D-11.9. */
function leaveOut(progress: RunProgress, table: Table, direction: SyncDirection): void {
  const problem = otherWay(direction);
  if (progress.request.tableName === null) {
    progress.warn(table.name, ownerError(problem, [table.name]).text);
  } else progress.endUnowned(table, problem, direction);
}

/** Refuses both directions where a table has no times, no owner, and rows at both ends: nobody knows the newer ones. D-11.9. */
async function ownerlessProblem({ remote, handshake, firstRecord }: RemoteCheck) {
  const { run, table } = remote;
  if (run.directions.length < 2 || !lacksOwner(table)) return null;
  const { countThere, schema } = handshake;
  const isEmptyThere =
    countThere === null ? schema === null && firstRecord === null : countThere === 0;
  return isEmptyThere || (await run.deps.tables.count(table)) === 0 ? null : "no_owner";
}

/** A push comes first; with added columns the pull, for the remote's values before a push overwrites them. D-4.3, D-7.3. */
function directionsOf({ remote, columns, memory }: RemoteCheck): readonly SyncDirection[] {
  const { directions } = remote.run;
  if (directions.length < 2) return directions;
  const added = addedColumns(memory.kept.pull.columns, columns);
  return added.length === 0 ? directions : directions.toReversed();
}

function tellWarnings(progress: RunProgress, { remote, handshake, warnings }: RemoteCheck): void {
  const { name } = remote.table;
  for (const text of warnings) progress.warn(name, text);
  const lacks = LACKS.filter(([extension]) => !hasExtension(handshake, extension));
  if (lacks.length === 0) return;
  const texts = lacks.map(([, text]) => text).join("; ");
  progress.warnOnce(name, `The remote does not know all that this service does: ${texts}`);
}

/** True for a stop, for a store or a remote out of reach, and for a remote that is this deployment: no other table would move. */
function concernsAllTables(error: unknown, stop: AbortSignal): boolean {
  if (stop.aborted || isAppError(error, ...OF_ALL_TABLES)) return true;
  const cause = error instanceof Error ? error.cause : null;
  if (!(cause instanceof RemotePeerError)) return false;
  return cause.reason !== "refused" && cause.reason !== "not_found";
}

import { type AppError, isAppError } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { allMarkerNames, type SyncDirection } from "../../../domain/sync/run/marker.ts";
import type {
  RunDirection,
  RunEvent,
  RunTrigger,
  SyncRun,
  TableResult,
} from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import { openRemote, type Remote, type SyncDeps } from "../shared/sync-deps.ts";
import { asSyncError } from "../shared/sync-error.ts";
import type { TransferTotals } from "../shared/transfer-report.ts";
import { runTransfer } from "../transfer/run-transfer.ts";
import { endAbandonedRuns, holdRun } from "./abandoned-runs.ts";
import { runLogger } from "./run-logger.ts";

/** A run to do. */
export interface RunJob {
  readonly runId: string;
  readonly trigger: RunTrigger;
  readonly direction: RunDirection;
  /** In the order in which each table takes them. */
  readonly directions: readonly SyncDirection[];
  readonly tables: readonly Table[];
  readonly isFull: boolean;
  readonly isDryRun: boolean;
  /** Ends the run from outside; its reason is an `AppError`. */
  readonly stop: AbortSignal;
  publish(event: RunEvent): void;
  /** Tells a failure; nulls where it belongs to no table. */
  publishProblem(problem: SyncProblem): void;
}

/** Why a run, or a table of it, failed. */
export interface SyncProblem {
  readonly table: string | null;
  readonly direction: SyncDirection | null;
  readonly error: AppError;
}

/** How a run ended. */
export interface RunOutcome {
  readonly run: SyncRun;
  /** `sync_misconfigured` or `sync_failed`; null unless the run failed. */
  readonly error: AppError | null;
}

/** Counts of a run so far. */
interface Tally {
  readonly tables: Map<string, TableResult>;
  error: AppError | null;
}

const NO_RESULT: TableResult = {
  pushed: 0,
  pulled: 0,
  errorCount: 0,
  bytesCompressed: 0,
  bytesUncompressed: 0,
  durationMs: 0,
};

/** Does a whole run and keeps its result; dry runs leave no trace. Never rejects. S-4.4, D-4.3, D-4.9. */
export async function runSync(given: SyncDeps, job: RunJob): Promise<RunOutcome> {
  const deps = { ...given, logger: runLogger(given.logger, job.runId) };
  const start = { startedAtMs: deps.clock.nowMs(), monotonicMs: deps.clock.monotonicMs() };
  const tally: Tally = { tables: new Map(), error: null };
  const describe = (status: SyncRun["status"]) =>
    describeRun(deps, job, { ...start, tally, status });
  const fail = (error: unknown) => {
    tally.error = failWith(deps, job, { table: null, direction: null, error });
  };
  const finish = () => describe(endStatus(tally));
  let remote: Remote;
  try {
    remote = openRemote(deps);
  } catch (error) {
    fail(error);
    return { run: finish(), error: tally.error };
  }
  const context = { remote, tally, describe };
  const run = job.isDryRun
    ? await runTables(deps, job, context).catch(fail).then(finish)
    : await runKept(deps, job, { ...context, fail, finish });
  logEnd(deps, run);
  return { run, error: tally.error };
}

/** A run that is listed, and that shows its process to be alive until its result is kept. */
async function runKept(
  deps: SyncDeps,
  job: RunJob,
  context: {
    readonly remote: Remote;
    readonly tally: Tally;
    describe(status: SyncRun["status"]): SyncRun;
    fail(error: unknown): void;
    finish(): SyncRun;
  },
): Promise<SyncRun> {
  let lease: RunLease | null = null;
  try {
    lease = await holdRun(deps, job);
    await endAbandonedRuns(deps);
    await deps.runs.save(context.describe("running"));
    if (job.isFull) await clearMarkers(deps, job.tables);
    await runTables(deps, job, context);
  } catch (error) {
    context.fail(error);
  }
  const run = context.finish();
  await keepRun(deps, run);
  await lease?.release();
  return run;
}

function endStatus({ tables, error }: Tally): SyncRun["status"] {
  if (error !== null) return "failed";
  return [...tables.values()].some((table) => table.errorCount > 0) ? "partial" : "success";
}

function logEnd({ logger }: SyncDeps, run: SyncRun): void {
  logger.info("Sync run finished", {
    status: run.status,
    trigger: run.trigger,
    direction: run.direction,
    dry_run: run.dryRun,
    total_pushed: run.totalPushed,
    total_pulled: run.totalPulled,
    error_count: run.errorCount,
    duration_ms: run.durationMs,
  });
}

/** S-4.4.2. */
async function clearMarkers(deps: SyncDeps, tables: readonly Table[]): Promise<void> {
  const names = tables.flatMap(({ name }) => allMarkerNames(name));
  await deps.markers.writeAll(new Map(names.map((name) => [name, ""])));
}

async function runTables(
  deps: SyncDeps,
  job: RunJob,
  { remote, tally }: { readonly remote: Remote; readonly tally: Tally },
): Promise<void> {
  const startedAt = formatMs(deps.clock.nowMs());
  for (const table of job.tables) {
    const twoWay = job.directions.length > 1 ? { pushedAt: null, pushMarkers: null } : null;
    for (const direction of job.directions) {
      const count = (totals: TransferTotals) => {
        const before = tally.tables.get(table.name) ?? NO_RESULT;
        tally.tables.set(table.name, addTotals(before, direction, totals));
      };
      try {
        const subject = { table, direction, remote, startedAt, twoWay };
        await runTransfer(deps, { ...job, ...subject, count });
      } catch (error) {
        const problem = failWith(deps, job, { table: table.name, direction, error });
        tally.error ??= problem;
        if (concernsAllTables(error, job)) return;
        // What was not pushed must not be pulled over.
        break;
      }
    }
  }
}

/** Logs and tells a failure. */
function failWith(
  { logger }: SyncDeps,
  job: RunJob,
  failure: {
    readonly table: string | null;
    readonly direction: SyncDirection | null;
    readonly error: unknown;
  },
): AppError {
  const { table, direction } = failure;
  logger.error("Sync run failed", failure.error, { table, direction });
  const error = asSyncError(failure.error);
  job.publishProblem({ table, direction, error });
  return error;
}

/** True when the other tables would meet the same: the run stops, the store or the remote is out of reach. */
function concernsAllTables(error: unknown, { stop }: RunJob): boolean {
  if (stop.aborted || isAppError(error, "store_unavailable", "commit_failed")) return true;
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof RemotePeerError && cause.status !== 400 && cause.status !== 404;
}

function addTotals(
  before: TableResult,
  direction: SyncDirection,
  totals: TransferTotals,
): TableResult {
  return {
    pushed: before.pushed + (direction === "push" ? totals.moved : 0),
    pulled: before.pulled + (direction === "pull" ? totals.moved : 0),
    errorCount: before.errorCount + totals.refused,
    bytesCompressed: before.bytesCompressed + totals.bytesCompressed,
    bytesUncompressed: before.bytesUncompressed + totals.bytesUncompressed,
    durationMs: before.durationMs + totals.durationMs,
  };
}

function describeRun(
  { clock }: SyncDeps,
  job: RunJob,
  state: {
    readonly startedAtMs: number;
    readonly monotonicMs: number;
    readonly tally: Tally;
    readonly status: SyncRun["status"];
  },
): SyncRun {
  const { tables, error } = state.tally;
  const sum = (field: keyof TableResult) =>
    [...tables.values()].reduce((total, table) => total + table[field], 0);
  return {
    runId: job.runId,
    trigger: job.trigger,
    status: state.status,
    direction: job.direction,
    tables: Object.fromEntries(tables),
    totalPushed: sum("pushed"),
    totalPulled: sum("pulled"),
    errorCount: sum("errorCount"),
    startedAt: formatMs(state.startedAtMs),
    finishedAt: state.status === "running" ? null : formatMs(clock.nowMs()),
    durationMs: Math.round(clock.monotonicMs() - state.monotonicMs),
    fullSync: job.isFull,
    dryRun: job.isDryRun,
    ...(error === null ? {} : { error: error.message }),
  };
}

/** A result that cannot be kept is no reason to call the run failed: its rows are where they belong. */
async function keepRun({ runs, logger }: SyncDeps, run: SyncRun): Promise<void> {
  try {
    await runs.save(run);
  } catch (error) {
    logger.error("Result of a sync run could not be kept", error);
  }
}

// Moves the tables of a run, one after the other, and looks at the numbers of rows at both ends then. D-4.3, D-7.5.
import { isAppError } from "../../../domain/shared/errors.ts";
import type { SyncDirection } from "../../../domain/sync/run/run.ts";
import {
  lacksOwner,
  otherWay,
  ownedDirections,
  ownerError,
} from "../../../domain/sync/run/table-owner.ts";
import type { EndCounts } from "../../../domain/sync/run/table-result.ts";
import { BUILT_IN_TABLES } from "../../../domain/sync/table/built-in-tables.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { countRows } from "../shared/count-rows.ts";
import { RemoteTable } from "../shared/remote-table.ts";
import { type RunContext, TransferReport } from "../shared/run-context.ts";
import {
  checkRemote,
  columnHistory,
  lacksText,
  type RemoteCheck,
  TableNotThere,
} from "../transfer/remote-check.ts";
import { transferTable } from "../transfer/transfer-table.ts";
import type { RunProgress } from "./run-progress.ts";

/** Moves tables until one fails as the others would too. Rejects when the store does not answer. */
export async function moveTables(
  run: RunContext,
  progress: RunProgress,
  tables: readonly Table[],
): Promise<void> {
  for (const table of tables) {
    if (!(await moveTable(run, progress, table))) return;
  }
  if (!run.isDryRun) await tellDrift(run, progress, tables);
}

/**
 * Moves one table in the directions of the run; failures are told to its progress. Resolves to false when the other tables
 * would fail too. Rejects when the store does not answer.
 */
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
async function ownerlessProblem({ remote, handshake }: RemoteCheck): Promise<"no_owner" | null> {
  const { run, table } = remote;
  if (run.directions.length < 2 || !lacksOwner(table)) return null;
  const { countThere, schema, firstRecord } = handshake;
  const isEmptyThere =
    countThere === null ? schema === null && firstRecord === null : countThere === 0;
  return isEmptyThere || (await run.deps.tables.count(table)) === 0 ? null : "no_owner";
}

/**
 * A push, then a pull; the other way round where columns take part for the first time, so that what the remote has in
 * them is here before it is overwritten. D-4.3, D-7.3.
 */
function directionsOf({ remote, columns, memory }: RemoteCheck): readonly SyncDirection[] {
  const { directions } = remote.run;
  if (directions.length < 2) return directions;
  const { added } = columnHistory(remote.table, columns, "pull", memory.kept);
  return added.length === 0 ? directions : directions.toReversed();
}

function tellWarnings(progress: RunProgress, { remote, handshake, warnings }: RemoteCheck): void {
  const { table } = remote;
  for (const text of warnings) progress.warn(table.name, text);
  const lacks = lacksText(handshake);
  if (lacks !== null) progress.warnOnce(table.name, lacks);
}

const OF_ALL_TABLES = ["store_unavailable", "commit_failed", "sync_misconfigured"] as const;

/**
 * True when the other tables would fail too: the run was stopped, the store or the remote cannot be reached, or the remote
 * is this deployment.
 */
function concernsAllTables(error: unknown, stop: AbortSignal): boolean {
  if (stop.aborted || isAppError(error, ...OF_ALL_TABLES)) return true;
  const cause = error instanceof Error ? error.cause : null;
  if (!(cause instanceof RemotePeerError)) return false;
  return cause.reason !== "refused" && cause.reason !== "not_found";
}

/**
 * Counts the rows of tables at both ends for their results. Where pulls have not shown that the remote has as many, it is
 * asked once for all tables. A difference that is new since the last run is a warning in the log, and each is kept for the
 * metrics. What cannot be counted is null. Never rejects.
 */
async function tellDrift(
  run: RunContext,
  progress: RunProgress,
  tables: readonly Table[],
): Promise<void> {
  const counting = tables.map(async (table): Promise<[string, EndCounts]> => {
    const countHere = await countRows(run.deps, table);
    return [table.name, { countHere, countThere: progress.countThere(table.name) }];
  });
  const counts = new Map(await Promise.all(counting));
  const isAlike = ({ countHere, countThere }: EndCounts) =>
    countHere !== null && countHere === countThere;
  if (![...counts.values()].every(isAlike)) await countThere(run, counts);
  progress.count(counts);
  try {
    await keepDrift(run, counts);
  } catch (error) {
    run.deps.logger.error("Drift could not be kept", error);
  }
}

/** Once and without another attempt: nothing depends on it. What a pull was told when it began is too old by now. */
async function countThere(
  { remote, deps, stop }: RunContext,
  counts: Map<string, EndCounts>,
): Promise<void> {
  let there: Readonly<Record<string, number>> = {};
  try {
    there = (await remote.peer.readStatus({ signal: stop })).tableCounts;
  } catch (error) {
    if (!isAppError(error)) throw error;
    deps.logger.info("The remote's rows could not be counted", { problem: error.message });
  }
  for (const [table, { countHere }] of counts) {
    const rows = Object.hasOwn(there, table) ? (there[table] ?? -1) : -1;
    counts.set(table, { countHere, countThere: rows < 0 ? null : rows });
  }
}

async function keepDrift(
  { deps }: RunContext,
  counts: ReadonlyMap<string, EndCounts>,
): Promise<void> {
  const kept = await deps.memory.drifts();
  const changed = new Map<string, number>();
  for (const [table, { countHere, countThere: there }] of counts) {
    if (countHere === null || there === null) continue;
    const drift = countHere - there;
    if (kept.get(table) === drift) continue;
    changed.set(table, drift);
    if (countHere === there) continue;
    // First, so that a crash in between tells it again.
    await deps.alerts?.raise({ type: "drift.found", table, countHere, countThere: there });
    deps.logger.warn("Both ends have another number of rows", {
      table,
      count_here: countHere,
      count_there: there,
      advice: `repsync compare ${table}`,
    });
  }
  if (changed.size > 0) await deps.memory.keepDrifts(changed);
}

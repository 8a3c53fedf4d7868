// The numbers of rows at both ends, looked at when a run has moved its tables. D-7.5.
import { isAppError } from "../../../domain/shared/errors.ts";
import type { TableResult } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { RunContext } from "../shared/run-context.ts";
import type { RunProgress } from "./run-progress.ts";

type EndCounts = Pick<TableResult, "countHere" | "countThere">;

/**
 * Counts the rows of tables at both ends for their results. Where pulls have not shown that the remote has as many, it is
 * asked once for all tables. A difference that is new since the last run is a warning in the log, and each is kept for the
 * metrics. What cannot be counted is null. Never rejects.
 */
export async function tellDrift(
  run: RunContext,
  progress: RunProgress,
  tables: readonly Table[],
): Promise<void> {
  const counts = new Map<string, EndCounts>();
  for (const table of tables) {
    const countHere = await countRows(run, table);
    counts.set(table.name, { countHere, countThere: progress.countThere(table.name) });
  }
  if ([...counts.values()].some((count) => !isEqual(count))) await countThere(run, counts);
  progress.count(counts);
  try {
    await keepDrift(run, counts);
  } catch (error) {
    run.deps.logger.error("Drift could not be kept", error);
  }
}

function isEqual({ countHere, countThere }: EndCounts): boolean {
  return countHere !== null && countHere === countThere;
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

/** Rows of a table here; null when it cannot be counted. */
export async function countRows({ deps }: RunContext, table: Table): Promise<number | null> {
  try {
    return await deps.tables.count(table);
  } catch (error) {
    deps.logger.error("Table cannot be counted", error, { table: table.name });
    return null;
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

// What an import asks before its first row, and before it removes others. D-14.7.
import { AppError } from "../../../domain/shared/errors.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { readRemoteStatus } from "../../../usecases/operations/read-remote-status.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import type { CommandTools } from "../../command-runner.ts";
import { countOf } from "../../output.ts";
import { confirm } from "../../prompts.ts";

const MAX_REMOTE_MS = 3_000;

/**
 * Says that rows of a stamped table are at the remote and none here: an import of the same rows makes versions of its own. Throws
 * `invalid_request` where somebody is asked and does not want that.
 */
export async function warnOfRemoteRows(
  { output }: CommandTools,
  table: Table,
  deps: SyncDeps,
): Promise<void> {
  if (!table.stamped || deps.remoteUrl === null || (await deps.tables.count(table)) > 0) return;
  const there = (await readRemoteStatus(deps, MAX_REMOTE_MS))?.status?.tableCounts[table.name] ?? 0;
  if (there <= 0) return;
  const text = `The remote has ${countOf(there, "row")} of "${table.name}", and this end none`;
  const pull = `repsync sync pull ${table.name}`;
  if (!output.isTerminal) output.warn(`${text}: ${pull} fetches them, with their times`);
  else if (!(await confirm(`${text}. Import all the same?`))) {
    throw new AppError("invalid_request", "Nothing was imported", { hint: `Run ${pull}` });
  }
}

/** Asks on a terminal; else the limit of the table is enough. */
export async function mayRemove(
  { output }: CommandTools,
  table: Table,
  rows: number,
): Promise<boolean> {
  if (!output.isTerminal) return true;
  return await confirm(`${countOf(rows, "row")} of "${table.name}" not in the file. Remove?`);
}

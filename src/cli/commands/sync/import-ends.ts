// Questions of an import before its first row, and before it removes others. D-14.7.
import { AppError } from "../../../domain/shared/errors.ts";
import { countOf } from "../../../domain/shared/text.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { rowsElsewhere } from "../../../usecases/sync/shared/read-remote-status.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import type { CommandTools } from "../../command-runner.ts";
import { confirm } from "../../prompts.ts";

/**
 * Says that rows of a stamped table are at the remote and none here. Throws `invalid_request` where somebody is asked and does not
 * want to import; of a dry run nobody is.
 */
export async function warnOfRemoteRows(
  { output }: CommandTools,
  table: Table,
  { sync, isDryRun }: { readonly sync: SyncDeps; readonly isDryRun: boolean },
): Promise<void> {
  const text = await rowsElsewhere(sync, table);
  if (text === null) return;
  const pull = `repsync sync pull ${table.name}`;
  if (isDryRun || !output.isTerminal)
    output.warn(`${text}: ${pull} fetches them, with their times`);
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

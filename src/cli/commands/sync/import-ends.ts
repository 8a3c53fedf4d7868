// What an import asks before its first row, and what it removes after its last one. D-14.7.
import { AppError } from "../../../domain/shared/errors.ts";
import type { ImportCounts } from "../../../domain/sync/run/import-events.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";
import { readRemoteStatus } from "../../../usecases/operations/read-remote-status.ts";
import type { WholeFile } from "../../../usecases/sync/files/whole-file.ts";
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

interface Removal {
  readonly whole: WholeFile;
  /** Null where there is no store yet. */
  readonly tables: TableStore | null;
  /** Null for a dry run. */
  readonly deps: SyncDeps | null;
  readonly counts: ImportCounts;
  /** Null for the limit of the registry. */
  readonly maxDeletes: number | null;
}

/** Removes the rows that the file does not have, or counts them. Throws `sync_failed` where they are too many. */
export async function removeOthers(
  { output, interruption }: CommandTools,
  table: Table,
  { whole, tables, deps, counts, maxDeletes }: Removal,
): Promise<number> {
  const refusal =
    counts.failed > 0 ? "records failed" : counts.read === 0 ? "the file has no records" : null;
  if (refusal !== null) output.tellError(`No row was removed, as ${refusal}`);
  if (refusal !== null || tables === null) return 0;
  const others = await whole.countOthers(tables, maxDeletes);
  if (deps === null || others === 0) return others;
  const question = `${countOf(others, "row")} of "${table.name}" not in the file. Remove?`;
  if (output.isTerminal && !(await confirm(question))) {
    output.tellError("No row was removed");
    return 0;
  }
  return await whole.removeOthers(deps, interruption.stopSignal());
}

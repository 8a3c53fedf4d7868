// Tells that a table has rows at the remote and none here: an import would give them new times, a pull keeps theirs. D-14.7.
import { countOf } from "../../../domain/shared/text.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { readRemoteStatus } from "../shared/read-remote-status.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";

const MAX_REMOTE_MS = 3_000;

/** What to tell before the first row of an import, of a stamped table that is empty here and not at the remote; else null. */
export async function rowsElsewhere(deps: SyncDeps, table: Table): Promise<string | null> {
  if (!table.stamped || deps.remoteUrl === null || (await deps.tables.count(table)) > 0)
    return null;
  const there = (await readRemoteStatus(deps, MAX_REMOTE_MS))?.status?.tableCounts[table.name] ?? 0;
  if (there <= 0) return null;
  return `The remote has ${countOf(there, "row")} of "${table.name}", and this end none`;
}

import { formatMs } from "../../../domain/shared/time.ts";
import {
  type DeletedPage,
  type DeletedQuery,
  readDeletedQuery,
} from "../../../domain/sync/rows/deleted-page.ts";
import { findTable, type Registry } from "../../../domain/sync/table/table.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { Tombstones } from "../../../ports/tables/tombstones.ts";

export interface ListDeletedDeps {
  readonly registry: Registry;
  readonly tombstones: Tombstones;
  readonly clock: Clock;
  /** `SYNC_MAX_BATCH_SIZE`, 1 or more. */
  readonly maxPageRows: number;
}

/**
 * Lists the tombstones of a table. A table without `deletes` has none, and its record is complete from now on only: a
 * peer that goes on from here after it has opted in is told to compare. Throws `unknown_table`, `invalid_request` for a
 * cursor that was never given, `store_unavailable`. D-7.6.
 */
export async function listDeleted(
  deps: ListDeletedDeps,
  tableName: string,
  query: DeletedQuery,
): Promise<DeletedPage> {
  const table = findTable(deps.registry, tableName);
  // Before the read: a cursor is as old as the time that came with it.
  const serverTime = formatMs(deps.clock.nowMs());
  if (!table.deletes) {
    const nothing = { items: [], nextCursor: null, cursor: "" };
    return { table: table.name, ...nothing, earliestAvailable: serverTime, serverTime };
  }
  const asked = readDeletedQuery(query, deps.maxPageRows);
  const { items, cursor, hasMore, earliestAvailable } = await deps.tombstones.list(table, asked);
  const nextCursor = hasMore ? cursor : null;
  return { table: table.name, items, nextCursor, cursor, earliestAvailable, serverTime };
}

import { MAX_PAGE_RECORD_BYTES } from "../../../domain/shared/limits.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import {
  buildPullPage,
  type DeletedPage,
  type DeletedQuery,
  type PageQuery,
  type PullPage,
  readDeletedQuery,
  readPageRequest,
} from "../../../domain/sync/rows/page.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { requireColumns } from "../../../domain/sync/table/table-schema.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";

/** Serves one page of a table. Throws `unknown_table`, `overloaded`, `store_unavailable`. S-4.1. */
export async function pullPage(
  deps: Pick<SyncDeps, "registry" | "tables" | "maxPageRows">,
  tableName: string,
  query: PageQuery,
): Promise<PullPage> {
  const table = findTable(deps.registry, tableName);
  requireColumns(table, query.columns ?? null);
  const request = readPageRequest(table, query, deps.maxPageRows);
  const { offsetRows, sinceTime, limitRows } = request;
  const { rows, totalRows } = await deps.tables.page(table, {
    from: { offsetRows },
    sinceTime,
    limitRows,
    maxJsonBytes: MAX_PAGE_RECORD_BYTES,
    hasTotal: true,
  });
  return buildPullPage(table, request, rows, totalRows);
}

/**
 * Lists the tombstones of a table. Without `deletes` there are none, and the record counts as complete from now on only: a peer
 * that goes on from here once the table has `deletes` is told to compare. Throws `unknown_table`, `invalid_request` for a cursor
 * that was never given, `store_unavailable`. D-7.6.
 */
export async function listDeleted(
  deps: Pick<SyncDeps, "registry" | "tombstones" | "documents" | "maxPageRows">,
  tableName: string,
  query: DeletedQuery,
): Promise<DeletedPage> {
  const table = findTable(deps.registry, tableName);
  // Before the read, by the store's clock: a cursor is as old as the time that came with it.
  const serverTime = formatMs(await storeNowMs(deps.documents));
  if (!table.deletes) {
    const nothing = { items: [], nextCursor: null, cursor: "" };
    return { table: table.name, ...nothing, earliestAvailable: serverTime, serverTime };
  }
  const asked = readDeletedQuery(query, deps.maxPageRows);
  const { items, cursor, hasMore, earliestAvailable } = await deps.tombstones.list(table, asked);
  const nextCursor = hasMore ? cursor : null;
  return { table: table.name, items, nextCursor, cursor, earliestAvailable, serverTime };
}

import { MAX_PAGE_RECORD_BYTES } from "../../../domain/shared/limits.ts";
import {
  buildPullPage,
  type PageQuery,
  type PullPage,
  readPageRequest,
} from "../../../domain/sync/rows/page.ts";
import { findTable, type Registry } from "../../../domain/sync/table/table.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";

export interface PullPageDeps {
  readonly registry: Registry;
  readonly tables: TableStore;
  /** `SYNC_MAX_BATCH_SIZE`, 1 or more. */
  readonly maxPageRows: number;
}

/** Serves one page of a table. Throws `unknown_table`, `store_unavailable`. S-4.1. */
export async function pullPage(
  deps: PullPageDeps,
  tableName: string,
  query: PageQuery,
): Promise<PullPage> {
  const table = findTable(deps.registry, tableName);
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

import { AppError } from "../../../domain/shared/errors.ts";
import { cutText } from "../../../domain/shared/text.ts";
import {
  buildPullPage,
  type PageQuery,
  type PullPage,
  readPageRequest,
} from "../../../domain/sync/rows/page.ts";
import type { Registry, Table } from "../../../domain/sync/table/table.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";

/** A table name may have 63 characters; a longer text is not repeated whole. */
const MAX_NAME_ECHO_CHARS = 63;

/** Dependencies of `pullPage`. */
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
  const { rows, totalRows } = await deps.tables.readPage(table, request);
  return buildPullPage(table, request, rows, totalRows);
}

/** The table of that name. Throws `unknown_table`. S-4.1.1, S-4.2.1. */
export function findTable(registry: Registry, tableName: string): Table {
  const table = registry.get(tableName);
  if (table !== undefined) return table;
  const name = cutText(tableName, MAX_NAME_ECHO_CHARS);
  const known = [...registry.keys()].join(", ");
  throw new AppError("unknown_table", `Unknown table "${name}"; tables here: ${known}`);
}

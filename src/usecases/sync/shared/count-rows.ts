import type { Table } from "../../../domain/sync/table/table.ts";
import { COUNT_CALLS } from "../../../ports/documents.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** Rows of a table here; null when it cannot be counted, or not soon. D-3.10. */
export async function countRows(
  { tables, logger }: Pick<SyncDeps, "tables" | "logger">,
  table: Table,
): Promise<number | null> {
  try {
    return await tables.count(table, { limit: COUNT_CALLS });
  } catch (error) {
    logger.error("Table cannot be counted", error, { table: table.name });
    return null;
  }
}

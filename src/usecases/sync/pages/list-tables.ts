import type { TableEntry } from "../../../domain/sync/table/registry-schema.ts";
import { describeTable, type TableSchema } from "../../../domain/sync/table/table-schema.ts";
import { readSyncStatus, type SyncStatusDeps } from "./read-sync-status.ts";

interface ListedTable
  extends Pick<
    TableSchema,
    "table" | "timestampColumn" | "upsertKey" | "columns" | "deletes" | "direction"
  > {
  /** Null when they cannot be counted. */
  readonly rows: number | null;
  readonly entry: TableEntry;
}

/** Every table of the registry with its rows and columns, with sync disabled too. D-9.5. */
export async function listTables(
  deps: SyncStatusDeps,
): Promise<{ readonly tables: readonly ListedTable[] }> {
  const listed = [...deps.registry.values()];
  const { tableCounts } = await readSyncStatus({ ...deps, isSyncEnabled: true });
  const tables = listed.map((table) => {
    const { timestampColumn, upsertKey, columns, deletes, direction } = describeTable(table);
    const count = tableCounts[table.name] ?? -1;
    const rows = count < 0 ? null : count;
    const { name, entry } = table;
    return { table: name, rows, timestampColumn, upsertKey, columns, deletes, direction, entry };
  });
  return { tables };
}

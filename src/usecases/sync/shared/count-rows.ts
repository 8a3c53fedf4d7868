import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, outlives, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { COUNT_CALLS } from "../../../ports/documents.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";
import type { SyncDeps } from "./sync-deps.ts";

/** The rows of a table here; null when they cannot be counted, or not soon. D-3.10. */
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

const ROWS_AT_ONCE = 1_000;

/** Counts the rows, each once, that these tombstones would remove at a time. Throws `store_unavailable`. D-7.6. */
export async function countRemovable(
  tables: Pick<TableStore, "byKeys">,
  table: Table,
  tombstones: readonly Tombstone[],
  nowMs: number,
): Promise<number> {
  const removable = new Set<string>();
  const limit = aheadLimit(nowMs);
  for (let from = 0; from < tombstones.length; from += ROWS_AT_ONCE) {
    const some = tombstones.slice(from, from + ROWS_AT_ONCE);
    const keys = some.map(({ key }) => key);
    const rows = await tables.byKeys(table, keys, "sent");
    const times = new Map(rows.map((row) => [keyText(table, row), rowTime(table, row)]));
    for (const { key, deletedAt } of some) {
      const text = keyText(table, key);
      const time = times.get(text);
      if (time !== undefined && !outlives(time, deletedAt, limit)) removable.add(text);
    }
  }
  return removable.size;
}

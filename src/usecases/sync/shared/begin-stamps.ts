import { recordKey } from "../../../domain/sync/rows/row-key.ts";
import { FIRST_STAMP, isTimeless, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { changesOf, type WriteRowsDeps, writeRows } from "./write-rows.ts";

const ROWS_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/**
 * Gives each row without a time in a stamped table the first stamp, which is the same at all ends. Such rows come first in the
 * order of a table, so a table without any costs one page. Safe at each start, also of several instances at once: a time that a
 * row got meanwhile stays. Throws as `writeRows`. D-14.2.
 */
export async function beginStamps(deps: WriteRowsDeps, tables: Iterable<Table>): Promise<void> {
  for (const table of tables) if (table.stamped) await stampFirst(deps, table);
}

async function stampFirst(deps: WriteRowsDeps, table: Table): Promise<void> {
  const { timestampColumn, pushColumns } = table;
  // Only the time changes, also where rows are only inserted.
  const updateColumns = pushColumns.filter(({ name }) => name === timestampColumn);
  const timed = { ...table, updateColumns };
  const first = { [timestampColumn ?? ""]: FIRST_STAMP };
  const limits = { limitRows: ROWS_AT_ONCE, maxJsonBytes: BYTES_AT_ONCE, columns: "sent" } as const;
  for (let after: Row | null = null; ; ) {
    const { rows }: { readonly rows: readonly Row[] } = await deps.tables.page(table, {
      ...limits,
      from: { after },
    });
    const timeless = rows.filter((row) => isTimeless(table, row));
    const writes = changesOf(timeless.map((row) => ({ ...recordKey(table, row), ...first })));
    await writeRows(deps, timed, { writes, conflict: "newer" });
    after = rows.at(-1) ?? null;
    // A row with a time ends the search; a row whose time cannot be read stays as it is.
    if (after === null || rowTime(table, after) !== null) return;
  }
}

import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RowsPage, TableStore } from "../../../ports/tables/table-store.ts";

/** Rows of the first read; later reads follow the size of the rows before them. */
const MAX_ROWS = 500;
/** About the JSON of one read, in characters. */
const PART_CHARS = 1 * 1024 * 1024;
/** Rows whose length is measured. */
const SAMPLED_ROWS = 20;

/**
 * All rows of a table in the order of its key, in parts, so that each row comes once however the table is written to
 * meanwhile: with the columns that runs move, as they are at the moment of reading. Throws `store_unavailable`. D-4.12.
 */
export async function* exportRows(
  tables: TableStore,
  table: Table,
): AsyncGenerator<readonly Row[], void, undefined> {
  let limitRows = MAX_ROWS;
  let afterKey: Row | null = null;
  for (;;) {
    const from = { afterKey, throughKey: null };
    const page: RowsPage = await tables.page(table, { from, limitRows, columns: "sent" });
    const part = page.rows;
    if (part.length > 0) yield part;
    if (part.length < limitRows) return;
    afterKey = part.at(-1) ?? null;
    limitRows = Math.max(1, Math.min(MAX_ROWS, Math.floor(PART_CHARS / longestChars(part))));
  }
}

/** The length of the longest row of a sample, as few long rows cost more than many short ones. */
function longestChars(rows: readonly Row[]): number {
  const step = Math.max(1, Math.floor(rows.length / SAMPLED_ROWS));
  let most = 1;
  for (let i = 0; i < rows.length; i += step) {
    most = Math.max(most, JSON.stringify(rows[i]).length);
  }
  return most;
}

import type { Table } from "../table/table.ts";

const LEAST_LIMIT_ROWS = 1_000;
const LIMIT_PART = 0.1;

/**
 * Rows of a table that one run may delete at an end that has `rowCount` rows: what the request says, or the registry, or
 * 1,000 or a tenth of the table, whichever is more. D-7.6.
 */
export function deleteLimit(table: Table, requested: number | null, rowCount: number): number {
  const ownLimit = Math.max(LEAST_LIMIT_ROWS, Math.floor(rowCount * LIMIT_PART));
  return requested ?? table.maxDeletes ?? ownLimit;
}

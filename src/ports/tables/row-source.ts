import type { Row, Table } from "../../domain/sync/table/table.ts";

/**
 * A row's place in a table: its timestamp and key columns; more columns do no harm. Give a row that was read here back
 * as the object it is: a store may know more exactly where it stood than its values tell, when another tool wrote them.
 */
export type RowPosition = Row;

/** A part of a table, in the order of the upsert key. */
export interface KeyRange {
  /** Only rows whose key comes after this row's; null from the first on. */
  readonly afterKey: RowPosition | null;
  /** Only rows whose key does not come after this row's; null to the last. */
  readonly throughKey: RowPosition | null;
}

export interface RowsAfterQuery {
  /** Only rows after this one in the order of the table; null: from the first on. */
  readonly after: RowPosition | null;
  /** Only rows whose timestamp is at or after this canonical time; null: every row. */
  readonly sinceTime: string | null;
  readonly limitRows: number;
}

/**
 * The rows of the registry's tables as runs and comparisons read them: with the columns that are both in `pageColumns`
 * and in `pushColumns`, values exactly as written. Order is that of `TableStore`. Every read sees all writes
 * acknowledged before it, in one snapshot, and its cost does not grow with the place in the table. Rows that another
 * tool wrote without a key are left out. A position need not be that of a row that exists. `sinceTime` has no effect on
 * tables without a timestamp.
 * Throws `store_unavailable`.
 */
export interface RowSource {
  /** Reads on in the order of the table. */
  readAfter(table: Table, query: RowsAfterQuery): Promise<readonly Row[]>;

  /** Counts the rows at or after `sinceTime`; null for every row. */
  countSince(table: Table, sinceTime: string | null): Promise<number>;

  /** Reads the rows with these keys, in any order; unknown keys give none, and a key given twice gives its row once. */
  readByKeys(table: Table, keys: readonly RowPosition[]): Promise<readonly Row[]>;

  /** Reads a range in key order, whatever the timestamps; at most `limitRows`. */
  readKeyRange(table: Table, range: KeyRange, limitRows: number): Promise<readonly Row[]>;
}

import type { RowOrder } from "../../domain/sync/by-hand/row-filter.ts";
import type { Column, Row, Table } from "../../domain/sync/table/table.ts";
import type { CallLimit } from "../documents.ts";
import type { Refusal } from "./table-writes.ts";

/**
 * A row's place in a table: its timestamp and key columns; more columns do no harm. Give a row that was read by position or
 * key back as the object it is: a store may know more exactly where it stood than its values tell, when another tool wrote
 * them.
 */
export type RowPosition = Row;

/** A part of a table, in the order of the upsert key, whatever the timestamps. */
export interface KeyRange {
  /** Only rows whose key comes after this row's; null from the first on. */
  readonly afterKey: RowPosition | null;
  /** Only rows whose key does not come after this row's; null to the last. */
  readonly throughKey: RowPosition | null;
}

/**
 * The place where the rows of a page begin. Rows that another tool wrote without a key are only in pages at an offset or a cursor; a
 * position, and a key of a range, need not be that of a row that exists.
 */
export type PageStart =
  /** Rows skipped in the order of the table, 0 or more. A page costs about the same at any offset when a table is read in order. */
  | { readonly offsetRows: number }
  /**
   * A `cursor` of this table and store; null: the first row. It costs the same wherever it is, and rows that are written
   * meanwhile move none that was not read. D-9.5.
   */
  | { readonly cursor: string | null }
  /** The row after which they come in the order of the table; null: the first row. It costs the same wherever it is. */
  | { readonly after: RowPosition | null }
  /** A range in the order of the key. */
  | KeyRange;

/** Columns of rows: `pageColumns`, or those of them that runs move, which are in `pushColumns` as well. */
export type RowColumns = "page" | "sent";

/** The chosen columns, in registry order. */
export function columnsOf(table: Table, columns: RowColumns): readonly Column[] {
  if (columns === "page") return table.pageColumns;
  return table.pageColumns.filter((column) => table.pushColumns.includes(column));
}

/** The rows of a table that a page is to hold. */
export interface RowsQuery {
  readonly from: PageStart;
  /**
   * Only of a page at a cursor, which is one of the same order; absent: `time`, the order of the table. Rows that another tool
   * wrote without a key are in no other. D-14.5.
   */
  readonly order?: RowOrder;
  /**
   * Only rows whose timestamp is at or after this canonical time; absent or null: every row. It has no effect on tables
   * without a timestamp, nor on pages and ranges in the order of the key.
   */
  readonly sinceTime?: string | null;
  /** 1 or more. */
  readonly limitRows: number;
  /** Bytes of JSON of the rows: the page ends before it has more, but not before its first row. Absent: no limit. D-7.9. */
  readonly maxJsonBytes?: number;
  /** Absent: `page`. */
  readonly columns?: RowColumns;
  /** True counts the rows at and after `sinceTime`; only for a page at an offset or a cursor. */
  readonly hasTotal?: true;
}

/** Rows and their total, both from one consistent read. D-3.4. */
export interface RowsPage<Total = number | null> {
  /** The rows in the order that was asked for, their columns in registry order. */
  readonly rows: Row[];
  /** Rows that match `sinceTime`, whichever of them the page has, rows without a key too; null where nobody asked. */
  readonly totalRows: Total;
  /**
   * The place where the next page begins, whatever has changed until then: at most `MAX_CURSOR_CHARS` letters, digits, `-` and `_`. Behind a
   * row whose place is too long for that it may count rows. Null after the last row, and for a page that did not begin at a
   * cursor.
   */
  readonly cursor: string | null;
}

/** The page that a query asks for. */
export type PageOf<Query> = RowsPage<
  Query extends { readonly hasTotal: true } ? number : number | null
>;

export interface CountQuery {
  /** As in `RowsQuery`. */
  readonly sinceTime?: string | null;
  /** True leaves out rows that another tool wrote without a key. */
  readonly hasKey?: boolean;
  /** Absent: as long as a page. A store that works at once goes by none. */
  readonly limit?: CallLimit;
}

/**
 * The rows of the registry's tables; transactions write them (`TableWrites`). Every method throws `AppError` of kind
 * `store_unavailable` when the store cannot be reached in time, and never lets an error of its driver out. Every read is of
 * one snapshot that includes each write acknowledged before the call, and no part of one that is still going on. D-3.8. Rows
 * come back with exactly the values that were written.
 *
 * Order of a table: by timestamp, then by the upsert key's columns in `upsert_key` order; tables without a timestamp
 * by the key alone. Null and unparseable timestamps come first and match no `sinceTime`. Text orders by its UTF-8
 * bytes, numbers by value, false before true; values of another type than their column's come after all others, by
 * the bytes of their JSON text. The same data gives the same order on every store. D-3.1.
 */
export interface TableStore {
  /** True when rows of this stamped table that other programs write, and whose time they leave alone, get a time too. D-14.2. */
  stampsOthers(table: Table): boolean;

  /**
   * Makes what is missing: tables, their columns, a unique index on the upsert key and one on (timestamp, key).
   * Idempotent, and safe when several instances do it at once. A changed registry adds columns.
   * Throws `schema_conflict`, before anything was changed, naming the table in double quotes and what to do, when the change would lose
   * data or break a promise: another type for a column or another upsert key while the table has rows, a column that
   * may not be null added to a table with rows, or the column dropped by which people are found while rows have a name. D-2.4, D-8.2.
   */
  prepare(tables: readonly Table[]): Promise<void>;

  /**
   * Reads consecutive rows. A large page is read in portions, with turns for other work in between; no more of it is held
   * in memory than `maxJsonBytes` and a portion. D-7.9. Throws `invalid_request` for a cursor that this store never gave.
   */
  page<const Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>>;

  /** Reads the rows with these keys, in any order; unknown keys give none, and a key given twice gives its row once. */
  byKeys(table: Table, keys: readonly RowPosition[], columns: RowColumns): Promise<readonly Row[]>;

  /** Why the store cannot hold a row of `pushColumns`, as `TableWrites.write` refuses it; null where it can, absent where it holds all. D-12.1. */
  refusal?(table: Table, row: Row): Refusal | null;

  /** The number of rows. Throws when this table cannot be counted. D-3.10. */
  count(table: Table, query?: CountQuery): Promise<number>;

  /** Waits until the tombstones of all rows deleted before the call are there, 10 s at most. Throws `store_unavailable`. D-7.6. */
  settled(table: Table): Promise<void>;
}

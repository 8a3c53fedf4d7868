import type { Row, Table } from "../../domain/sync/table/table.ts";

/** Which rows of a table a page holds. */
export interface StoredPageQuery {
  /** Only rows whose timestamp is at or after this canonical time; null for every row. */
  readonly sinceTime: string | null;
  /** Rows skipped in the order of the table, 0 or more. */
  readonly offsetRows: number;
  /** 1 or more. */
  readonly limitRows: number;
  /** Bytes of JSON of the rows: the page ends before it has more, but not before its first row. Absent: no limit. D-7.9. */
  readonly maxJsonBytes?: number;
}

/** A page and the number of rows that match its filter, both from one consistent read. D-3.4. */
export interface StoredPage {
  /** Rows with the table's `pageColumns`, in registry order. */
  readonly rows: Row[];
  readonly totalRows: number;
}

/** Which rows of a table a part holds, for people who leaf through it. D-9.5. */
export interface StoredPartQuery {
  /** Only rows whose timestamp is at or after this canonical time; null for every row. */
  readonly sinceTime: string | null;
  /** A `cursor` of this table and store; null: from the first row on. */
  readonly cursor: string | null;
  /** 1 or more. */
  readonly limitRows: number;
  /** As in `StoredPageQuery`. */
  readonly maxJsonBytes: number;
}

export interface StoredPart extends StoredPage {
  /** Where the next part begins, whatever has changed until then: letters, digits, `-` and `_`. Null after the last row. */
  readonly cursor: string | null;
}

/**
 * Tables that a store has prepared. Only `TableStore.prepare` makes one, so whatever takes one comes after that.
 */
export class PreparedTables {
  readonly #byName: ReadonlyMap<string, Table>;

  constructor(tables: readonly Table[]) {
    this.#byName = new Map(tables.map((table) => [table.name, table]));
  }

  /** The table of this name. Throws when it was not prepared, which is a bug. */
  get(name: string): Table {
    const table = this.#byName.get(name);
    if (table === undefined) throw new Error(`Table "${name}" was not prepared`);
    return table;
  }
}

/**
 * The rows of the registry's tables. Every method throws `AppError` of kind `store_unavailable` when the store cannot
 * be reached in time, and never lets an error of its driver out.
 *
 * Order of a table: by timestamp, then by the upsert key's columns in `upsert_key` order; tables without a timestamp
 * by the key alone. Null and unparseable timestamps come first and match no `sinceTime`. Text orders by its UTF-8
 * bytes, numbers by value, false before true; values of another type than their column's come after all others, by
 * the bytes of their JSON text. The same data gives the same order on every store. D-3.1.
 */
export interface TableStore {
  /**
   * Makes what is missing: tables, their columns, a unique index on the upsert key and one on (timestamp, key).
   * Idempotent, and safe when several instances do it at once. A changed registry adds columns.
   * Throws `schema_conflict`, before anything was changed, naming the table in double quotes and what to do, when the change would lose
   * data or break a promise: another type for a column or another upsert key while the table has rows, a column that
   * may not be null added to a table with rows. D-2.4.
   */
  prepare(tables: readonly Table[]): Promise<PreparedTables>;

  /**
   * Reads a page and the total from one snapshot that includes every write acknowledged before the call, and no part
   * of one that is still going on. D-3.4, D-3.8. Rows come back with exactly the values that were written.
   * A page costs about the same at any offset when a table is read in order. A large one is read in portions, with turns
   * for other work in between; no more of it is held in memory than `maxJsonBytes` and a portion. D-7.9.
   */
  readPage(table: Table, query: StoredPageQuery): Promise<StoredPage>;

  /**
   * Reads on behind a cursor, in the order of the table, with the total of `readPage`. It costs the same wherever it is,
   * and rows that are written meanwhile move none that was not read. Throws `invalid_request` for a cursor that this store
   * never gave. D-9.5.
   */
  readPart(table: Table, query: StoredPartQuery): Promise<StoredPart>;

  /** The row with this key, with the table's `pageColumns`; null when there is none. */
  readRow(table: Table, key: Row): Promise<Row | null>;

  /** Waits until the tombstones of all rows deleted before the call are there, 10 s at most. Throws `store_unavailable`. D-7.6. */
  settled(table: Table): Promise<void>;

  /** The number of rows, written ones included. Throws when this table cannot be counted. D-3.10. */
  countRows(table: Table): Promise<number>;
}

import type { Row, Table } from "../../domain/sync/table/table.ts";

/** Which rows of a table a page holds. */
export interface StoredPageQuery {
  /** Only rows whose timestamp is at or after this canonical time; null for every row. */
  readonly sinceTime: string | null;
  /** Rows skipped in the order of the table, 0 or more. */
  readonly offsetRows: number;
  /** 1 or more. */
  readonly limitRows: number;
}

/** A page and the number of rows that match its filter, both from one consistent read. D-3.4. */
export interface StoredPage {
  /** Rows with the table's `pageColumns`, in registry order. */
  readonly rows: Row[];
  readonly totalRows: number;
}

/** One record of a push, converted and checked by the domain. */
export interface RowWrite {
  /** Position of the record in the request, from 0; failures name it. */
  readonly index: number;
  /** Every one of the table's `pushColumns`; one with `serialize: false` may be absent and then stays as it is. */
  readonly row: Row;
}

/** A record the store itself refused; nothing of it was written. */
export interface WriteFailure {
  readonly index: number;
  /** Why, in words for the caller: no path, no driver text. */
  readonly message: string;
}

export interface WriteOptions {
  /** By name. */
  readonly markers?: ReadonlyMap<string, string>;
  /** Throws an `AppError` once the write may no longer be done. */
  readonly beforeCommit?: () => void;
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
   * A page costs about the same at any offset when a table is read in order.
   */
  readPage(table: Table, query: StoredPageQuery): Promise<StoredPage>;

  /**
   * Upserts records in request order as one commit: all of them but the failed ones, or none. S-4.2.9 to S-4.2.11.
   * A new key is inserted with all `pushColumns` (an absent one is null, an auto-incrementing `id` is the next
   * number). An existing key gets the table's `updateColumns`; with none it stays as it is. With `conflict: "newer"` a
   * record whose timestamp is before the stored row's leaves the row as it is (null and unparseable are before any
   * other). The same key twice acts as if written one after the other. D-3.6, D-3.9.
   * A row that would not change is not written. Idempotent.
   * Resolves once the commit is durable, with the records that failed; the others are written.
   * With `markers`, those are set in the same commit, also when `writes` is empty; but not when a record failed, as its
   * failure has to be noted before a marker passes it.
   * With `beforeCommit`, that is called right before each attempt to commit; when it throws, nothing is written.
   * Throws `commit_failed` when nothing of it was written, `store_unavailable` when that is unknown, and what
   * `beforeCommit` throws.
   */
  write(
    table: Table,
    writes: readonly RowWrite[],
    options?: WriteOptions,
  ): Promise<readonly WriteFailure[]>;

  /** The number of rows, written ones included. Throws when this table cannot be counted. D-3.10. */
  countRows(table: Table): Promise<number>;
}

import type { JsonObject } from "../../domain/shared/json.ts";
import type { Tombstone } from "../../domain/sync/rows/tombstone.ts";
import type { SyncDirection } from "../../domain/sync/run/marker.ts";
import type { ConflictRule, Row, Table } from "../../domain/sync/table/table.ts";
import type { LeaseClaim } from "../runs/lease-store.ts";
import type { NewRejection } from "../runs/rejected-records.ts";

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

/** One record of a push, converted and checked by the domain. */
export interface RowWrite {
  /** Position of the record in the request, from 0; failures name it. */
  readonly index: number;
  /** The table's `pushColumns`. One that is absent stays as it is, and is null in a new row. */
  readonly row: Row;
  /** Why the record fails if its row would be new, as a column that may not be null is absent; absent if it may be new. */
  readonly refusedIfNew?: string;
}

/** A tombstone that arrived, converted and checked by the domain. */
export interface TombstoneWrite extends Tombstone {
  /** Position in the request's `deleted`, from 0. */
  readonly index: number;
}

/** A record the store itself refused; nothing of it was written. */
export interface WriteFailure {
  readonly index: number;
  /** Why, in words for the caller: no path, no driver text. */
  readonly message: string;
}

export interface WriteOptions {
  /** Instead of the table's own rule: `newer` is the guard of runs and guarded pushes. D-7.1, D-7.2. */
  readonly conflict?: ConflictRule;
  /** True when a run of this deployment writes what it pulled: its late rows are noted for others only. D-7.4. */
  readonly isOwnRun?: boolean;
  /** Applied before the rows; only for a table with `deletes`. D-7.6. */
  readonly deleted?: readonly TombstoneWrite[];
  /**
   * True when the caller goes on with parts: where other writers keep getting in the way of the commit, it is given up soon,
   * with `batch_too_large`. D-11.10.
   */
  readonly isDivisible?: boolean;
  /** Lease under which the commit is made: it is written in the transaction, so that a lost one commits nothing. D-7.8. */
  readonly lease?: LeaseClaim;
  /**
   * Called in the transaction right before each attempt to commit, with what will have happened; gives what is committed
   * beside the rows. Throws an `AppError` once the write may no longer be done: then nothing is written.
   */
  readonly beforeCommit?: (outcome: WriteOutcome) => CommitExtras | undefined;
}

/** What a write did, or is about to commit. */
export interface WriteOutcome {
  /** The records that failed; the others were written, kept or needed no change. */
  readonly failures: readonly WriteFailure[];
  /** Positions of the records that were not written because the row here, or a tombstone, is newer, or its owner's. */
  readonly kept: readonly number[];
  /** Positions of the records that were left out, as the person whom they name was erased here; absent for none. D-8.2. */
  readonly erased?: readonly number[];
  /** Rows really inserted or changed. */
  readonly changed: number;
  /** Rows removed by `deleted`. */
  readonly deleted: number;
}

/** What a run keeps in the same commit as its rows. */
export interface CommitExtras {
  /** By name. */
  readonly markers?: ReadonlyMap<string, string>;
  /**
   * Refused records, noted in their order: a known one keeps its id and `firstAtMs` and gets another attempt, the new
   * message, the new record and the new `lastAtMs`. A record that was dropped is not noted; another one of its key is, and
   * the drop is forgotten. D-7.7.
   */
  readonly rejected?: readonly NewRejection[];
  /** Entries of these keys are dropped before `rejected` is noted, as they have been accepted; unknown ones are ignored. */
  readonly accepted?: {
    readonly table: string;
    readonly direction: SyncDirection;
    readonly keys: readonly JsonObject[];
  };
  /** Removes the table's agreed rows. */
  readonly forgetsAgreed?: boolean;
  /** A block that is added to the table's agreed rows, once those to be forgotten are gone. */
  readonly agreed?: Uint8Array;
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

  /**
   * Upserts records in request order as one commit: all of them but the failed ones, or none. S-4.2.9 to S-4.2.11.
   * A new key is inserted with all `pushColumns` (an absent one is null, an auto-incrementing `id` is the next
   * number). An existing key gets the table's `updateColumns`; with none it stays as it is. The same key twice acts as
   * if written one after the other. D-3.6, D-3.9. A row that would not change is not written. Idempotent.
   *
   * With the conflict rule `newer`, the table's own or that of `options`, a record whose time ranks below the stored
   * row's (`rankTimes`, by the store's clock) leaves the row as it is and counts as kept. It has no effect on a table
   * that is not versioned (`isVersioned`). D-7.1.
   * A row that changes and whose time is further back than the table's lag is noted as late (`LateRows`), and so is a
   * row that is kept, or that outlives a tombstone that arrives. D-7.4.
   * In a table with `deletes`, a row whose time is later than its key's tombstone removes that; with the rule `newer` any
   * other is kept out, and the tombstone is listed anew. D-7.6.
   *
   * Rows of people (`isOfPeople`): a row for a name that was erased here is left out (`isLeftOut`), and counts as erased.
   * Where the owner of a profile has it otherwise, `ownedRow` says what is written; where that is nothing the record counts
   * as kept and is not noted, and a row that is merged is noted as one that is kept. D-8.1, D-8.2.
   *
   * Resolves once the commit is durable. With `beforeCommit`, what that gives is set in the same commit, also when there
   * is nothing to write.
   * Throws `commit_failed` when nothing of it was written, `batch_too_large` when it can only be in parts, `lease_lost` when `options.lease` is not held any more,
   * `store_unavailable` when the outcome is unknown, and what `beforeCommit` throws.
   */
  write(table: Table, writes: readonly RowWrite[], options?: WriteOptions): Promise<WriteOutcome>;

  /** Waits until the tombstones of all rows deleted before the call are there, 10 s at most. Throws `store_unavailable`. D-7.6. */
  settled(table: Table): Promise<void>;

  /** The number of rows, written ones included. Throws when this table cannot be counted. D-3.10. */
  countRows(table: Table): Promise<number>;
}

import type { ConvertedRow } from "../../domain/sync/rows/convert.ts";
import type { StampRule } from "../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../domain/sync/rows/tombstone.ts";
import type { Row, Table, WriteConflict } from "../../domain/sync/table/table.ts";

/** One record of a push, converted and checked by the domain. */
export interface RowWrite extends ConvertedRow {
  /** Position of the record in the request, from 0; failures name it. */
  readonly index: number;
}

/** A tombstone that arrived, converted and checked by the domain. */
export interface TombstoneWrite extends Tombstone {
  /** Position in the request's `deleted`, from 0. */
  readonly index: number;
}

/** Why the store itself refuses a record, or a tombstone. */
export interface Refusal {
  /** The words of an application's own trigger, else ours; no path and no text of the driver. */
  readonly message: string;
  /** The column that cannot hold its value, where the store knows it. */
  readonly column?: string;
}

/** A record or tombstone of which the store wrote nothing. */
export interface WriteFailure extends Refusal {
  readonly index: number;
}

/** Why a record or tombstone fails that another program's trigger drops silently. */
export const PASSED_OVER = "a trigger of the table passes over it";

export interface WriteRule {
  /** Replaces the table's own rule: `newer` is the guard of runs and guarded pushes. D-7.1, D-7.2. */
  readonly conflict?: WriteConflict;
  /** Applied before the rows; in a table without `deletes` they only remove rows. D-7.6, D-14.3. */
  readonly deleted?: readonly TombstoneWrite[];
  /** Gives a time to records without one, before they are judged (`stampFate`, by the store's clock); absent: none. D-14.2. */
  readonly stamps?: StampRule;
}

/** The result of a write. Positions are those of the records. */
export interface WrittenRows {
  /** The records that the store refused or that must not be written; the others were written, kept or needed no change. */
  readonly failures: readonly WriteFailure[];
  /** The records that were not written because the row here, or a tombstone, is newer, or because of its owner. */
  readonly kept: readonly number[];
  /** The records whose rows stay deleted (`StampRule`); absent for none. */
  readonly buried?: readonly number[];
  /** Rows really inserted or changed. */
  readonly changed: number;
  /** Rows removed by `deleted`. */
  readonly deleted: number;
  /** The tombstones of `deleted` without effect, as the store would not remove their rows; absent for none. */
  readonly refusedDeletes?: readonly WriteFailure[];
}

/** With the times that are to be noted. */
export interface Written extends WrittenRows {
  /** The earliest canonical time of inserted rows and of changed rows after the change, or an earlier time; null for none. */
  readonly earliestChanged: string | null;
  /** The earliest canonical time of a row that was kept, or that outlives a tombstone of `deleted`; null for none. */
  readonly earliestKept: string | null;
  /** The store's time, as `Reader.nowMs`, by which an immediate commit is visible. */
  readonly visibleMs: number;
}

/**
 * Writes of a transaction to the rows of the registry's tables. Each change raises the versions of its table and of the people whom
 * the row names, or named before. Of two bodies that change one row, one runs again. The transaction fails with `commit_failed`
 * where nothing was written, and with `batch_too_large` where the rows can only be written in parts.
 */
export interface TableWrites {
  /**
   * Upserts records in their order, all but the failed ones. S-4.2.9 to S-4.2.11. A new key is inserted with all `pushColumns` (an
   * absent one is null, an auto-incrementing `id` is the next number). An existing key gets the table's `updateColumns`; with none
   * it stays as it is. The same key twice acts as if written one after the other. D-3.6, D-3.9. A row that would not change is not
   * written. Others have turns in a long write. D-7.9.
   *
   * With the conflict rule `newer` a record whose time ranks below the stored row's (`rankTimes`, by the store's clock) leaves the
   * row as it is; in a stamped table so does one that differs where both have the time `FIRST_STAMP`. The rule has no effect on a
   * table that is not versioned (`isVersioned`). D-7.1, D-14.2.
   *
   * In a table with `deletes`, a row that is later than its key's tombstone removes the tombstone; with the rule `newer` any other
   * row is kept out, and the tombstone is listed anew; with `restore` any row removes it. A caller with one of these rules, or with
   * `deleted`, has awaited `TableStore.settled` before the body. D-7.6.
   */
  write(table: Table, writes: readonly RowWrite[], rule?: WriteRule): Promise<Written>;

  /**
   * Changes the given fields, as far as the table has such columns, of the rows with this value in a column, or removes those rows
   * for null; a table without the column has none. Removed rows leave no tombstone. Where the column is part of the key, tombstones
   * of keys with the value are forgotten, even where this registry has no `deletes` for the table; where it has, also those that
   * the store records later of earlier deletes. Where the change gives a row another key, a tombstone takes the old key's place, as
   * when another program does it. Throws `invalid_request`, which ends the body, where a rule of the table refuses the fields, or
   * two rows would have one key.
   */
  change(table: Table, column: string, value: string, fields: Row | null): Promise<void>;

  /**
   * Takes what others than `write` have committed to a table: the earliest canonical time that `change` set, or that other programs
   * wrote at most 5 s before the begin of their transaction (a `date` counts as the end of its day), or an earlier one; null for
   * none. Each commit is told to one body that commits, the first that sees it. Only where `DocumentStore.tellsCommits`. D-12.3.
   */
  takeCommitted?(table: Table): Promise<string | null>;

  /**
   * Makes one of two bodies run again: this one, or one that writes rows of people whose versions this one raises, however many. So
   * no body that has read before this commit that they were not erased writes after it. A body that begins with this call comes
   * through beside pushes that never rest. D-8.2.
   */
  excludePushes(): Promise<void>;
}

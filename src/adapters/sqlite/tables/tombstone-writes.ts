// Tombstones of a table within one write and its transaction. D-7.6.
import { compareDateTimes, formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import { aheadLimit } from "../../../domain/sync/rows/row-time.ts";
import { outlives, type Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { Steps } from "../../../ports/runtime/turns.ts";
import type { SqliteValue } from "../driver/driver.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import { boundValues } from "./column-values.ts";
import { rowOrder } from "./order-column.ts";
import { canonicalTime, keptTime, TombstoneNames } from "./tombstone-sql.ts";

/** Values of a key, as they are bound. */
type BoundKey = readonly SqliteValue[];

/** Later than any time that a tombstone may have. */
const LATEST_TIME = "9999-12-31T23:59:59.999999";

/** Buries rows, and finds the tombstones that keep rows out. */
export class TombstoneWrites {
  readonly #database: SqliteWork;
  readonly #names: TombstoneNames;
  readonly #now: string;
  readonly #aheadLimit: string;
  readonly #readOrder: string;
  readonly #readDeletedAt: string;
  /** The tombstones of keys that the records of this write have: `deletedAt` by the text of the key. */
  readonly #met = new Map<string, string>();

  constructor(database: SqliteWork, table: Table) {
    const nowMs = database.nowMs();
    this.#database = database;
    this.#names = new TombstoneNames(table);
    this.#now = keptTime(formatMs(nowMs));
    this.#aheadLimit = aheadLimit(nowMs);
    const name = `"${table.name}"`;
    const order = rowOrder(table, name, database.foreignTables);
    this.#readOrder = `SELECT ${order} AS "order" FROM ${name} WHERE ${this.#names.isKey(name)}`;
    const { list } = this.#names;
    this.#readDeletedAt = `SELECT repsync_deleted_at AS deletedAt FROM ${list} WHERE ${this.#names.isKey(list)}`;
  }

  /**
   * Takes a tombstone in, which a table without deletes does not keep. Tells whether it removed a row, or a trigger keeps it, or
   * the `repsync_order` of a row that outlives it.
   */
  bury({ key, deletedAt }: Tombstone): {
    readonly isRemoved: boolean;
    readonly isPassedOver?: true;
    readonly outlivedBy?: string;
  } {
    const { deletes, keyColumns } = this.#names.table;
    const bound = boundValues(keyColumns, key);
    const order = this.orderAt(bound);
    const isThere = order !== null;
    if (isThere && outlives(parseDateTime(order), deletedAt, this.#aheadLimit)) {
      return { isRemoved: false, outlivedBy: order };
    }
    const before = deletes ? this.#deletedAt(bound) : null;
    const isNews = before === null || compareDateTimes(before, deletedAt) < 0;
    if (isThere && !this.#remove(bound, before)) return { isRemoved: false, isPassedOver: true };
    if (deletes && isNews) this.#list(bound, deletedAt);
    return { isRemoved: isThere };
  }

  /** Looks for tombstones of records that are about to be written, by their keys. A step for each. */
  *meet(keys: Iterable<BoundKey>): Steps<void> {
    const { list } = this.#names;
    if (this.#database.all(`SELECT 1 FROM ${list} LIMIT 1`).length === 0) return;
    for (const key of keys) {
      const deletedAt = this.#deletedAt(key);
      if (deletedAt !== null) this.#met.set(keyText(key), deletedAt);
      yield;
    }
  }

  /** The tombstones of keys, once each. */
  find(keys: readonly Row[]): readonly Tombstone[] {
    const found = new Map<string, Tombstone>();
    for (const key of keys) {
      const bound = boundValues(this.#names.table.keyColumns, key);
      const deletedAt = this.#deletedAt(bound);
      if (deletedAt !== null) found.set(keyText(bound), { key, deletedAt });
    }
    return [...found.values()];
  }

  /** True when a record has a tombstone. */
  get hasMet(): boolean {
    return this.#met.size > 0;
  }

  /** The `deletedAt` of the key of a record; null without a tombstone. */
  deletedAt(keyOf: () => BoundKey): string | null {
    if (this.#met.size === 0) return null;
    const key = keyOf();
    return this.#met.has(keyText(key)) ? this.#deletedAt(key) : null;
  }

  /** True when its tombstone keeps a row with this key and canonical time out; the tombstone is listed anew. */
  keepsOut(keyOf: () => BoundKey, time: string | null): boolean {
    if (this.#met.size === 0) return false;
    const key = keyOf();
    const deletedAt = this.#met.get(keyText(key));
    if (deletedAt === undefined || outlives(time, deletedAt, this.#aheadLimit)) return false;
    // An earlier record of this write may have removed it.
    if (this.#deletedAt(key) === null) return false;
    this.#list(key, deletedAt);
    return true;
  }

  /** The `repsync_order` of the row with a key, '' for one without a time; null where there is none. */
  orderAt(key: BoundKey): string | null {
    const [row] = this.#database.all(this.#readOrder, key);
    return row === undefined ? null : String(row["order"]);
  }

  /** Removes a row, or throws what a trigger raises; false where one keeps it in silence. A tombstone of its key stays in its place, as the row's trigger lists none beside a greater time. */
  #remove(key: BoundKey, kept: string | null): boolean {
    const { table, list } = this.#names;
    const name = `"${table.name}"`;
    const keep = `UPDATE ${list} SET repsync_deleted_at = ? WHERE ${this.#names.isKey(list)}`;
    if (kept !== null) this.#database.run(keep, [LATEST_TIME, ...key]);
    try {
      return this.#database.run(`DELETE FROM ${name} WHERE ${this.#names.isKey(name)}`, key) > 0;
    } finally {
      if (kept !== null) this.#database.run(keep, [keptTime(kept), ...key]);
    }
  }

  #deletedAt(key: BoundKey): string | null {
    const [row] = this.#database.all(this.#readDeletedAt, key);
    return row === undefined ? null : canonicalTime(String(row["deletedAt"]));
  }

  /** Puts a tombstone at the end of the list. */
  #list(key: BoundKey, deletedAt: string): void {
    const { list, keyColumns } = this.#names;
    this.#database.run(`DELETE FROM ${list} WHERE ${this.#names.isKey(list)}`, key);
    const marks = keyColumns.map(() => "?").join(", ");
    this.#database.run(
      `INSERT INTO ${list} (${keyColumns.join(", ")}, repsync_deleted_at, repsync_taken_at, repsync_is_own)
        VALUES (${marks}, ?, ?, 0)`,
      [...key, keptTime(deletedAt), this.#now],
    );
  }
}

/**
 * Removes the rows with a value in a column, within the caller's transaction, and the tombstones that the triggers list for
 * them. Where the column is one of the key, earlier tombstones of keys with the value go, too. Deletes may be off in this
 * registry alone, or for a while.
 */
export function leaveNoTombstones(
  database: SqliteWork,
  table: Table,
  [columnName, value]: readonly [string, SqliteValue],
  remove: () => void,
): void {
  const listName = new TombstoneNames(table).list.slice(1, -1);
  const columns = database.all("SELECT name FROM pragma_table_info(?)", [listName]);
  if (columns.length === 0) {
    remove();
    return;
  }
  const { list } = forgetReplaced(database, table);
  const [end] = database.all(`SELECT coalesce(max(repsync_place), 0) AS place FROM ${list}`);
  remove();
  database.run(`DELETE FROM ${list} WHERE repsync_place > ?`, [Number(end?.["place"])]);
  if (!columns.some(({ name }) => name === columnName)) return;
  database.run(`DELETE FROM ${list} WHERE "${columnName}" = ?`, [value]);
}

/**
 * Deletes the notes of rows that a statement passed over, within the caller's transaction, while their rows are there: later
 * they would be taken for replaced ones.
 */
export function forgetReplaced(database: SqliteWork, table: Table): TombstoneNames {
  const names = new TombstoneNames(table);
  database.run(`DELETE FROM ${names.replaced}`);
  return names;
}

/** The text of a key. */
function keyText(key: BoundKey): string {
  return JSON.stringify(key);
}

// Tombstones of a table within one write and its transaction. D-7.6.
import { compareDateTimes, formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import { aheadLimit, outlives } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { Steps } from "../../../ports/runtime/turns.ts";
import type { SqliteValue } from "../driver/driver.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import { boundValues } from "./column-values.ts";
import { ORDER_COLUMN, rowOrder } from "./order-column.ts";
import { canonicalTime, keptTime, TombstoneNames } from "./tombstone-sql.ts";

type BoundKey = readonly SqliteValue[];

/** Later than any `deletedAt`. */
const LATEST_TIME = "9999-12-31T23:59:59.999999";

/** Buries rows, and finds the tombstones that keep rows out. */
export class TombstoneWrites {
  readonly #database: SqliteWork;
  readonly #names: TombstoneNames;
  readonly #now: string;
  readonly #aheadLimit: string;
  readonly #readOrder: string;
  readonly #readDeletedAt: string;
  /** `deletedAt` of the tombstones that records of this write meet, by the text of the key. */
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
   * Takes in a tombstone and removes its row. A table without deletes keeps no tombstone. Tells whether a row was removed, whether a
   * trigger kept the row, or the `repsync_order` of a row that outlives the tombstone.
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

  /** Finds the tombstones of records before they are written. One step per key. */
  *meet(keys: Iterable<BoundKey>): Steps<void> {
    const { list } = this.#names;
    if (this.#database.all(`SELECT 1 FROM ${list} LIMIT 1`).length === 0) return;
    for (const key of keys) {
      const deletedAt = this.#deletedAt(key);
      if (deletedAt !== null) this.#met.set(keyText(key), deletedAt);
      yield;
    }
  }

  /** Each tombstone once. */
  find(keys: readonly Row[]): readonly Tombstone[] {
    const found = new Map<string, Tombstone>();
    for (const key of keys) {
      const bound = boundValues(this.#names.table.keyColumns, key);
      const deletedAt = this.#deletedAt(bound);
      if (deletedAt !== null) found.set(keyText(bound), { key, deletedAt });
    }
    return [...found.values()];
  }

  get hasMet(): boolean {
    return this.#met.size > 0;
  }

  /** The `deletedAt` that the key of a record had before this write; null without a tombstone. */
  deletedAt(keyOf: () => BoundKey): string | null {
    return this.#met.size === 0 ? null : (this.#met.get(keyText(keyOf())) ?? null);
  }

  /** True when a tombstone keeps out a row with this key and canonical time; the tombstone is then listed anew. */
  keepsOut(keyOf: () => BoundKey, time: string | null): boolean {
    const deletedAt = this.deletedAt(keyOf);
    if (deletedAt === null || outlives(time, deletedAt, this.#aheadLimit)) return false;
    const key = keyOf();
    // An earlier record of this write may have removed the tombstone.
    if (this.#deletedAt(key) === null) return false;
    this.#list(key, deletedAt);
    return true;
  }

  /** Forgets the tombstone that a record of this write has met. */
  forget(keyOf: () => BoundKey): void {
    if (this.deletedAt(keyOf) !== null) this.#unlist(keyOf());
  }

  /** The `repsync_order` of the row with a key, '' for a row without a time; null without a row. */
  orderAt(key: BoundKey): string | null {
    const [row] = this.#database.all(this.#readOrder, key);
    return row === undefined ? null : String(row["order"]);
  }

  /**
   * Removes a row. False where a trigger keeps the row without an error; throws an error that a trigger raises. A tombstone of the key
   * has the latest time meanwhile, so that the row's trigger lists no other and the tombstone keeps its place.
   */
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
    this.#unlist(key);
    const marks = keyColumns.map(() => "?").join(", ");
    this.#database.run(
      `INSERT INTO ${list} (${keyColumns.join(", ")}, repsync_deleted_at, repsync_taken_at, repsync_is_own)
        VALUES (${marks}, ?, ?, 0)`,
      [...key, keptTime(deletedAt), this.#now],
    );
  }

  #unlist(key: BoundKey): void {
    const { list } = this.#names;
    this.#database.run(`DELETE FROM ${list} WHERE ${this.#names.isKey(list)}`, key);
  }
}

/**
 * Removes rows with a value in a column, within the caller's transaction, without tombstones; what a rule of the table deletes because
 * of them leaves its own. Where the column is part of the key, earlier tombstones with the value go too. The list may be there while
 * deletes are off.
 */
export function leaveNoTombstones(
  database: SqliteWork,
  table: Table,
  [columnName, value]: readonly [string, SqliteValue],
  { rows, remove }: { readonly rows: readonly Row[]; readonly remove: () => void },
): void {
  const listName = new TombstoneNames(table).list.slice(1, -1);
  const columns = database.all("SELECT name FROM pragma_table_info(?)", [listName]);
  if (columns.length === 0) {
    remove();
    return;
  }
  const names = forgetReplaced(database, table);
  const [end] = database.all(`SELECT coalesce(max(repsync_place), 0) AS place FROM ${names.list}`);
  remove();
  const forget = `DELETE FROM ${names.list} WHERE repsync_place > ? AND ${names.isKey(names.list)}`;
  for (const row of rows) {
    database.run(forget, [Number(end?.["place"]), ...boundValues(table.keyColumns, row)]);
  }
  if (!columns.some(({ name }) => name === columnName)) return;
  database.run(`DELETE FROM ${names.list} WHERE "${columnName}" = ?`, [value]);
}

/** Deletes the notes of statements that wrote nothing, within the caller's transaction: later they would count as replaced. */
export function forgetReplaced(database: SqliteWork, table: Table): TombstoneNames {
  const names = new TombstoneNames(table);
  database.run(`UPDATE ${names.replaced} SET ${ORDER_COLUMN} = NULL`);
  database.run(`DELETE FROM ${names.replaced}`);
  return names;
}

function keyText(key: BoundKey): string {
  return JSON.stringify(key);
}

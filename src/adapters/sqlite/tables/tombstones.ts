import { placeOfCursor, placeText } from "../../../domain/shared/list-query.ts";
import { compareDateTimes, formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import { recordKey } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, outlives } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { Steps } from "../../../ports/runtime/turns.ts";
import type {
  TombstonePage,
  TombstoneQuery,
  Tombstones,
} from "../../../ports/tables/table-store.ts";
import type { SqliteValue } from "../driver/connection.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import { boundValues, decodeRows, readColumns } from "./column-values.ts";
import { deleteTriggerName, onUnrenamed, SET_EARLIEST } from "./delete-triggers.ts";
import { rowOrder } from "./order-column.ts";
import { canonicalTime, keptTime, TombstoneNames } from "./tombstone-sql.ts";

const FIND = `SELECT list_id, earliest_available,
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?2), 0) AS last,
  EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?3 AND instr(sql, ?4)) AS is_recorded
  FROM repsync_deletes WHERE table_name = ?1`;

interface List {
  readonly names: TombstoneNames;
  readonly id: string;
  /** The greatest place ever given. */
  readonly lastPlace: number;
  readonly earliestAvailable: string;
}

export class SqliteTombstones implements Tombstones {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async list(table: Table, query: TombstoneQuery): Promise<TombstonePage> {
    return this.#database.read(() => {
      const list = this.#find(table);
      const after = placeOfCursor(list.id, list.lastPlace, query.after);
      const found = this.#read(list, query, after);
      const shown = found.slice(0, query.limitRows);
      const place = Number(shown.at(-1)?.["repsync_place"] ?? after);
      const items = decodeRows(
        shown.map(({ repsync_place: _place, repsync_deleted_at: _time, ...key }) => key),
        table.keyColumns,
      ).map((key, i) => ({
        key,
        deletedAt: canonicalTime(String(shown[i]?.["repsync_deleted_at"])),
      }));
      return {
        items,
        cursor: placeText(list.id, place),
        hasMore: found.length > shown.length,
        earliestAvailable: list.earliestAvailable,
      };
    });
  }

  async end(table: Table): Promise<string> {
    return this.#database.read(() => {
      const { id, lastPlace } = this.#find(table);
      return placeText(id, lastPlace);
    });
  }

  async countAfter(table: Table, after: string | null): Promise<number> {
    return this.#database.read(() => {
      const { names, id, lastPlace } = this.#find(table);
      const sql = `SELECT count(*) AS n FROM ${names.list} WHERE repsync_place > ?`;
      const place = placeOfCursor(id, lastPlace, after);
      return Number(this.#database.all(sql, [place])[0]?.["n"]);
    });
  }

  async byKeys(table: Table, keys: readonly Row[]): Promise<readonly Tombstone[]> {
    return this.#database.read(() => {
      const writes = new TombstoneWrites(this.#database, table);
      return writes.find(keys.map((row) => recordKey(table, row)));
    });
  }

  async forgetAfter(table: Table, after: string | null): Promise<number> {
    return this.#database.write(() => {
      const { names, id, lastPlace } = this.#find(table);
      const place = placeOfCursor(id, lastPlace, after);
      forgetReplaced(this.#database, names);
      return this.#database.run(`DELETE FROM ${names.list} WHERE repsync_place > ?`, [place]);
    });
  }

  async prune(table: Table, beforeTime: string): Promise<number> {
    return this.#database.write(() => {
      const { names, earliestAvailable } = this.#find(table);
      if (compareDateTimes(earliestAvailable, beforeTime) < 0) {
        this.#database.run(SET_EARLIEST, [beforeTime, table.name]);
      }
      forgetReplaced(this.#database, names);
      const sql = `DELETE FROM ${names.list} WHERE repsync_taken_at < ?`;
      return this.#database.run(sql, [keptTime(beforeTime)]);
    });
  }

  #find(table: Table): List {
    const names = new TombstoneNames(table);
    const trigger = [deleteTriggerName(table), onUnrenamed(table)];
    const values = [table.name, names.list.slice(1, -1), ...trigger];
    const [row] = this.#database.all(FIND, values);
    if (row === undefined) throw new Error(`Table "${table.name}" was not prepared with deletes`);
    return {
      names,
      id: String(row["list_id"]),
      lastPlace: Number(row["last"]),
      // The trigger was dropped, maybe by an instance whose registry has no deletes, or its table was renamed: deletes before now are
      // unknown.
      earliestAvailable:
        row["is_recorded"] === 1
          ? String(row["earliest_available"])
          : formatMs(this.#database.nowMs()),
    };
  }

  /** Reads one more than the limit, to know whether more follow. */
  #read({ names }: List, query: TombstoneQuery, after: number) {
    const columns = readColumns(names.table.keyColumns, this.#database.cutsTextAtNul);
    const values: SqliteValue[] = [after];
    if (query.sinceTime !== null) values.push(keptTime(query.sinceTime));
    const isSince = query.sinceTime === null ? "" : "AND repsync_taken_at >= ?";
    const sql = `SELECT ${columns}, repsync_place, repsync_deleted_at FROM ${names.list}
      WHERE repsync_place > ? ${isSince} ORDER BY repsync_place LIMIT ?`;
    return this.#database.all(sql, [...values, query.limitRows + 1]);
  }
}

type BoundKey = readonly SqliteValue[];

/** Later than any `deletedAt`. */
const LATEST_TIME = "9999-12-31T23:59:59.999999";

/** The tombstones of a table within one transaction: buries rows, and finds the tombstones that keep rows out. D-7.6. */
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

/** Deletes the notes of statements that wrote nothing, within the caller's transaction: later they would count as replaced. */
export function forgetReplaced(database: SqliteWork, { replaced }: TombstoneNames): void {
  database.run(`DELETE FROM ${replaced}`);
}

function keyText(key: BoundKey): string {
  return JSON.stringify(key);
}

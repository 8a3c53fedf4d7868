// The SQL of tombstones. Their times have 26 characters, six fraction digits and no zone, so that the bytes sort by time.
import { parseDateTime } from "../../../domain/shared/time.ts";
import { MAX_AHEAD_MS } from "../../../domain/sync/rows/row-time.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { declaredType } from "./column-values.ts";
import { ORDER_COLUMN } from "./order-column.ts";

const TABLES = [
  // Since when the deletes of a table are recorded without a gap. The id tells the places of one list from those of another.
  `CREATE TABLE IF NOT EXISTS repsync_deletes (
    table_name TEXT PRIMARY KEY, list_id TEXT NOT NULL, key TEXT NOT NULL, earliest_available TEXT NOT NULL
  ) WITHOUT ROWID`,
  // Tells triggers that this service writes, the time of its commit, and the table whose rows it stamps itself.
  "CREATE TABLE IF NOT EXISTS repsync_moment (now TEXT NOT NULL, table_name TEXT)",
];

/** Makes the tables about deletes, within the write that opens the store. */
export function makeTombstoneTables(database: SqliteDatabase): void {
  for (const sql of TABLES) database.run(sql);
  // Earlier versions made `repsync_moment` without `table_name`.
  const columns = database.all("SELECT name FROM pragma_table_info('repsync_moment')");
  if (columns.some(({ name }) => name === "table_name")) return;
  database.run("ALTER TABLE repsync_moment ADD COLUMN table_name TEXT");
}

const FORM = "%Y-%m-%dT%H:%M:%f";
const MACHINE_NOW = `strftime('${FORM}', 'now') || '000'`;

/** The time of this service's commit during one, otherwise that of the machine. */
export const TRIGGER_NOW = `coalesce((SELECT now FROM repsync_moment), ${MACHINE_NOW})`;
/** True for a delete that a write of this service causes. */
export const IS_CAUSED = "EXISTS (SELECT 1 FROM repsync_moment WHERE table_name IS NOT NULL)";
/** Later times are too far ahead. D-7.1. */
const TRIGGER_LIMIT = `(strftime('${FORM}', ${TRIGGER_NOW}, '+${MAX_AHEAD_MS / 1000} seconds') || '000')`;

/** Names of what is kept of a table's deletes, and its key in SQL. */
export class TombstoneNames {
  readonly table: Table;
  /** The tombstones. */
  readonly list: string;
  /** Notes of rows that a statement may be about to replace. */
  readonly replaced: string;
  /** A view without rows. Rows whose key has a tombstone are inserted into it. */
  readonly met: string;
  readonly keyColumns: readonly string[];
  /** Their names in the view: SQLite numbers a column of a view that would be called `true` or `false`. */
  readonly metColumns: readonly string[];

  constructor(table: Table) {
    this.table = table;
    this.list = `"repsync_deleted_${table.name}"`;
    this.replaced = `"repsync_replaced_${table.name}"`;
    this.met = `"repsync_met_${table.name}"`;
    this.keyColumns = table.keyColumns.map(({ name }) => `"${name}"`);
    this.metColumns = this.keyColumns.map((name, i) =>
      /^"(?:true|false)"$/i.test(name) ? `column${i + 1}` : name,
    );
  }

  /** `a.x = b.x AND …` */
  sameKey(a: string, b: string): string {
    return this.keyColumns.map((name) => `${a}.${name} = ${b}.${name}`).join(" AND ");
  }

  keyOf(row: string): string {
    return this.keyColumns.map((name) => `${row}.${name}`).join(", ");
  }

  /** `row.x = ? AND …` */
  isKey(row: string): string {
    return this.keyColumns.map((name) => `${row}.${name} = ?`).join(" AND ");
  }

  create(): readonly string[] {
    const columns = this.table.keyColumns.map(
      (column) => `"${column.name}" ${declaredType(column)}`,
    );
    const times = "repsync_deleted_at TEXT NOT NULL, repsync_taken_at TEXT NOT NULL";
    return [
      `CREATE TABLE ${this.list} (
        repsync_place INTEGER PRIMARY KEY AUTOINCREMENT, ${columns.join(", ")},
        ${times}, repsync_is_own INTEGER NOT NULL, UNIQUE (${this.keyColumns.join(", ")})
      )`,
      `CREATE TABLE ${this.replaced} (${columns.join(", ")}, ${ORDER_COLUMN} TEXT)`,
      `CREATE VIEW ${this.met} AS SELECT * FROM ${this.replaced} WHERE false`,
    ];
  }

  drop(): readonly string[] {
    const tables = [this.list, this.replaced].map((name) => `DROP TABLE IF EXISTS ${name}`);
    return [`DROP VIEW IF EXISTS ${this.met}`, ...tables];
  }
}

/** The time of a row, from its `repsync_order`; '' without one. */
function rowTimeSql(row: string): string {
  const order = `${row}.${ORDER_COLUMN}`;
  return `CASE ${order} WHEN '' THEN '' ELSE ${order} || substr('.000000', length(${order}) - 18) END`;
}

/** `changeTime` in SQL. */
export function deletionTimeSql(row: string): string {
  const time = `(${rowTimeSql(row)})`;
  const micros = `CAST(substr(${time}, 21) AS INTEGER) + 1`;
  const nextSecond = `strftime('%Y-%m-%dT%H:%M:%S', substr(${time}, 1, 19), '+1 second') || '.000000'`;
  const sameSecond = `substr(${time}, 1, 20) || printf('%06d', ${micros})`;
  const behind = `CASE WHEN substr(${time}, 21) = '999999' THEN ${nextSecond} ELSE ${sameSecond} END`;
  const isToCome = `${time} >= ${TRIGGER_NOW} AND ${time} <= ${TRIGGER_LIMIT}`;
  // The CASE is null for a text that looks like a time and is none.
  return `coalesce(CASE WHEN ${isToCome} THEN ${behind} END, ${TRIGGER_NOW})`;
}

/** The time of a tombstone. Where a write of this service causes the delete it is the time of the row, so that a later version of it wins. */
export function recordedTimeSql(row: string): string {
  const time = `(${rowTimeSql(row)})`;
  const isTime = `${time} <> '' AND ${time} <= ${TRIGGER_LIMIT}`;
  const rowTime = `CASE WHEN ${isTime} THEN ${time} ELSE '1970-01-01T00:00:00.000000' END`;
  return `CASE WHEN ${IS_CAUSED} THEN ${rowTime} ELSE ${deletionTimeSql(row)} END`;
}

/** `outlives` in SQL. */
export function outlivesSql(row: string, deletedAt: string): string {
  const time = `(${rowTimeSql(row)})`;
  const isAhead = `${time} > ${TRIGGER_LIMIT}`;
  const isDeletedAhead = `${deletedAt} > ${TRIGGER_LIMIT}`;
  const isLater = `CASE WHEN (${isAhead}) = (${isDeletedAhead}) THEN ${time} > ${deletedAt} ELSE ${isDeletedAhead} END`;
  return `(${time} <> '' AND ${isLater})`;
}

/** The kept form of a canonical time. */
export function keptTime(canonical: string): string {
  const time = canonical.slice(0, -1);
  return time + ".000000".slice(time.length - 19);
}

/** The canonical form of a kept time. */
export function canonicalTime(kept: string): string {
  return parseDateTime(`${kept}Z`) ?? `${kept}Z`;
}

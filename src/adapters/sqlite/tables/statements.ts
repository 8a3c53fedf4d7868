// The SQL of one table. Names come from the registry, which allows only letters, digits and underscores.
import { type Column, type Table, timestampColumnOf } from "../../../domain/sync/table/table.ts";
import type { SqliteValue } from "../driver/driver.ts";
import { readExpression } from "./column-values.ts";

/** The generated column that a table with a timestamp is ordered by: '' for null and unparseable ones. */
export const ORDER_COLUMN = "repsync_order";

/** Where reading starts: at the first row, at a time, or right after a known row. */
type PageStart = "first" | "time" | "position";

export interface Start {
  readonly kind: PageStart;
  readonly values: readonly SqliteValue[];
}

/** A start that is no row's place. */
export interface FirstStart extends Start {
  readonly kind: "first" | "time";
}

/** The start of all rows, or of those at or after a canonical time. It has no effect on a table without a timestamp. */
export function firstStart(table: Table, sinceTime: string | null): FirstStart {
  if (sinceTime === null || table.timestampColumn === null) return { kind: "first", values: [] };
  return { kind: "time", values: [orderBound(table, sinceTime)] };
}

export interface TableSql {
  /** Counts the rows; from `time` on with the time as value. */
  count(start: FirstStart["kind"]): string;

  /** Reads the page columns in order. Values: those of the start, the number of rows, the rows to skip. */
  page(start: PageStart): string;

  /** Reads one row's place in the order. Values: those of the start, then the number of rows before it. */
  position(start: PageStart): string;

  /** As `position`, counted from the last row: the number is that of the rows after it. */
  positionFromEnd(start: FirstStart["kind"]): string;

  /** Writes one row; the values are those of `pushColumns` without the absent ones. */
  upsert(absent: readonly Column[]): string;
}

export function tableSql(table: Table, cutsTextAtNul: boolean): TableSql {
  const read = (column: Column) => `${readExpression(column, cutsTextAtNul)} AS "${column.name}"`;
  const pageColumns = table.pageColumns.map(read).join(", ");
  const positionColumns = [
    ...(table.timestampColumn === null ? [] : [ORDER_COLUMN]),
    ...table.keyColumns.map(read),
  ].join(", ");
  const order = qualifiedOrder(table);
  const forward = `ORDER BY ${order.join(", ")}`;
  const backward = `ORDER BY ${order.map((column) => `${column} DESC`).join(", ")}`;
  const from = (start: PageStart) => `FROM "${table.name}"${startCondition(table, start)}`;
  const position = (start: PageStart, direction: string) =>
    `SELECT ${positionColumns} ${from(start)} ${direction} LIMIT 1 OFFSET ?`;
  return {
    count: remembered((start) => `SELECT count(*) AS n ${from(start)}`),
    page: remembered((start) => `SELECT ${pageColumns} ${from(start)} ${forward} LIMIT ? OFFSET ?`),
    position: remembered((start) => position(start, forward)),
    positionFromEnd: remembered((start) => position(start, backward)),
    upsert: remembered((absent) => upsertSql(table, absent)),
  };
}

/** The columns of the order of D-3.1, as SQL. */
export function orderColumns(table: Table): string[] {
  const keys = table.keyColumns.map((column) => `"${column.name}"`);
  return table.timestampColumn === null ? keys : [ORDER_COLUMN, ...keys];
}

/** Times as this adapter writes them. JSON text in a BLOB can look like one, except for its first character. */
const OWN_TIMES = ["", ".???", ".??????"].map((fraction) => `[0-9]???-??-??T??:??:??${fraction}`);
const ANY_DATE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*";

/**
 * What `repsync_order` is generated from: the timestamp if it is a time, else ''. Times in other forms that tools write
 * (with a space, `Z` or `+00:00`, fewer digits) are completed; other zones are ignored.
 */
export function orderExpression(table: Table): string | null {
  const timestamp = timestampColumnOf(table);
  if (timestamp === null) return null;
  const name = `"${timestamp.name}"`;
  const isDate = `${name} GLOB '${ANY_DATE}'`;
  if (timestamp.type === "date")
    return `CASE WHEN ${isDate} THEN substr(${name}, 1, 10) ELSE '' END`;
  const isOwn = OWN_TIMES.map((pattern) => `${name} GLOB '${pattern}'`).join(" OR ");
  const time = `rtrim(replace(replace(${name}, ' ', 'T'), '+00:00', ''), 'Z')`;
  const padded = `${time} || substr('0000-00-00T00:00:00.000000', length(${time}) + 1)`;
  return `CASE WHEN ${isOwn} THEN ${name} WHEN ${isDate} THEN ${padded} ELSE '' END`;
}

/** The value of `repsync_order` from which rows are at or after a canonical time. */
function orderBound(table: Table, sinceTime: string): string {
  const isDate = timestampColumnOf(table)?.type === "date";
  const time = sinceTime.slice(0, -1);
  return isDate && time.endsWith("T00:00:00") ? time.slice(0, 10) : time;
}

/** As `orderColumns()`, qualified: a bare name would mean the expression by which a query reads the column. */
function qualifiedOrder(table: Table): string[] {
  return orderColumns(table).map((column) => `"${table.name}".${column}`);
}

function startCondition(table: Table, start: PageStart): string {
  if (start === "first") return "";
  if (start === "time") return ` WHERE ${ORDER_COLUMN} >= ?`;
  const order = qualifiedOrder(table);
  return ` WHERE (${order.join(", ")}) > (${order.map(() => "?").join(", ")})`;
}

function upsertSql(table: Table, absent: readonly Column[]): string {
  const names = (columns: readonly Column[]) => columns.map(({ name }) => `"${name}"`);
  const written = table.pushColumns.filter((column) => !absent.includes(column));
  const updated = names(table.updateColumns.filter((column) => !absent.includes(column)));
  const marks = written.map(() => "?").join(", ");
  // With an alias, as a table may be called "excluded".
  const insert = `INSERT INTO "${table.name}" AS stored (${names(written).join(", ")}) VALUES (${marks})`;
  const conflict = `${insert} ON CONFLICT (${names(table.keyColumns).join(", ")})`;
  if (updated.length === 0) return `${conflict} DO NOTHING`;
  const excluded = updated.map((name) => `excluded.${name}`);
  const set = updated.map((name, i) => `${name} = ${excluded[i]}`).join(", ");
  const isChanged = `(${updated.join(", ")}) IS NOT (${excluded.join(", ")})`;
  const isNewer =
    table.conflict === "newer" && table.timestampColumn !== null
      ? `excluded.${ORDER_COLUMN} >= stored.${ORDER_COLUMN} AND `
      : "";
  return `${conflict} DO UPDATE SET ${set} WHERE ${isNewer}${isChanged}`;
}

/** Texts that are kept per kind: columns may be absent in many combinations. */
const MAX_TEXTS = 64;

/** Makes a text once per argument; lists of columns with the same names are the same. */
function remembered<Key extends string | readonly Column[]>(make: (key: Key) => string) {
  const texts = new Map<string, string>();
  return (key: Key): string => {
    const id = typeof key === "string" ? key : key.map(({ name }) => name).join(" ");
    const text = texts.get(id) ?? make(key);
    if (texts.size >= MAX_TEXTS) texts.clear();
    texts.set(id, text);
    return text;
  };
}

/** Values that one statement binds; older versions of SQLite allow no more than 999. */
const MAX_VALUES = 900;
/** Keys that one statement looks up; more would not make it faster. */
const MAX_KEYS = 100;

interface KeyBounds {
  readonly after: boolean;
  readonly through: boolean;
}

/** The SQL that reads one table for runs and comparisons. It leaves out rows without a key. */
export interface RowSql {
  /** The columns of each row: those that runs send. */
  readonly columns: readonly Column[];

  readonly keysPerLookup: number;

  /** Reads on in the order of the table. Values: those of the start, then the number of rows. */
  after(start: PageStart): string;

  /** Counts the rows; from `time` on with the time as value. */
  count(start: FirstStart["kind"]): string;

  /** Reads the rows with one key, or with `keysPerLookup` of them, which may be the same. Values: the keys. */
  byKeys(keys: "one" | "many"): string;

  /** Reads in the order of the key. Values: those of the bounds that it has, then the number of rows. */
  keyRange(bounds: KeyBounds): string;
}

/** Makes the SQL of runs and comparisons of a table. Rows also have the `repsync_order` of a table that has one. */
export function rowSql(table: Table, cutsTextAtNul: boolean): RowSql {
  const columns = table.pageColumns.filter((column) => table.pushColumns.includes(column));
  const read = columns.map((c) => `${readExpression(c, cutsTextAtNul)} AS "${c.name}"`);
  const select = [...read, ...(table.timestampColumn === null ? [] : [ORDER_COLUMN])].join(", ");
  const order = qualifiedOrder(table);
  const key = table.keyColumns.map(({ name }) => `"${table.name}"."${name}"`);
  const hasKey = key.map((name) => `${name} IS NOT NULL`);
  const from = (...conditions: string[]) =>
    `FROM "${table.name}" WHERE ${[...conditions, ...hasKey].join(" AND ")}`;
  const keysPerLookup = Math.max(1, Math.min(MAX_KEYS, Math.floor(MAX_VALUES / key.length)));
  const starts: Readonly<Record<PageStart, readonly string[]>> = {
    first: [],
    time: [`${ORDER_COLUMN} >= ?`],
    position: [`${tuple(order)} > ${marks(order)}`],
  };
  return {
    columns,
    keysPerLookup,
    after: (start) =>
      `SELECT ${select} ${from(...starts[start])} ORDER BY ${order.join(", ")} LIMIT ?`,
    count: (start) => `SELECT count(*) AS n ${from(...starts[start])}`,
    byKeys: (keys) => {
      const rows = Array(keys === "one" ? 1 : keysPerLookup).fill(marks(key));
      return `SELECT ${select} ${from(`${tuple(key)} IN (VALUES ${rows.join(", ")})`)}`;
    },
    keyRange: ({ after, through }) => {
      const bounds = [
        ...(after ? [`${tuple(key)} > ${marks(key)}`] : []),
        ...(through ? [`${tuple(key)} <= ${marks(key)}`] : []),
      ];
      return `SELECT ${select} ${from(...bounds)} ORDER BY ${key.join(", ")} LIMIT ?`;
    },
  };
}

function tuple(names: readonly string[]): string {
  return `(${names.join(", ")})`;
}

function marks(names: readonly string[]): string {
  return tuple(names.map(() => "?"));
}

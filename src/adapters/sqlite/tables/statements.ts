// The SQL that reads one table. Names come from the registry, which allows only letters, digits and underscores.
import type { Column, Table } from "../../../domain/sync/table/table.ts";
import type { SqliteValue } from "../driver/driver.ts";
import { readExpression } from "./column-values.ts";
import { ORDER_COLUMN, orderBound, qualifiedOrder, type TableFile } from "./order-column.ts";

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

  /** Reads the page columns of one row. Values: its key. */
  readonly row: string;

  /** As `position`, counted from the last row: the number is that of the rows after it. */
  positionFromEnd(start: FirstStart["kind"]): string;
}

export function tableSql(table: Table, file: TableFile): TableSql {
  const read = (column: Column) =>
    `${readExpression(column, file.cutsTextAtNul)} AS "${column.name}"`;
  const pageColumns = table.pageColumns.map(read).join(", ");
  const order = qualifiedOrder(table, file.foreignTables);
  const positionColumns = [...readOrder(table, order), ...table.keyColumns.map(read)].join(", ");
  const forward = `ORDER BY ${order.join(", ")}`;
  const backward = `ORDER BY ${order.map((column) => `${column} DESC`).join(", ")}`;
  const from = (start: PageStart) => {
    const conditions = startConditions(order)[start];
    return `FROM "${table.name}"${conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`}`;
  };
  const position = (start: PageStart, direction: string) =>
    `SELECT ${positionColumns} ${from(start)} ${direction} LIMIT 1 OFFSET ?`;
  return {
    count: remembered((start) => `SELECT count(*) AS n ${from(start)}`),
    page: remembered((start) => `SELECT ${pageColumns} ${from(start)} ${forward} LIMIT ? OFFSET ?`),
    position: remembered((start) => position(start, forward)),
    row: `SELECT ${pageColumns} FROM "${table.name}" WHERE ${tuple(keyNames(table))} = ${marks(table.keyColumns)}`,
    positionFromEnd: remembered((start) => position(start, backward)),
  };
}

/** Reads the order of a row; nothing in a table without a timestamp, whose order is its key. */
function readOrder({ timestampColumn }: Table, [order]: readonly string[]): readonly string[] {
  return timestampColumn === null ? [] : [`${order} AS ${ORDER_COLUMN}`];
}

/** The rows from a start on. An expression in a comparison of tuples finds no place in an index, but one alone does. */
function startConditions(order: readonly string[]): Readonly<Record<PageStart, readonly string[]>> {
  const [first = ""] = order;
  const [, ...others] = order.map(() => "?");
  const isColumn = /^[\w".]+$/.test(first);
  return {
    first: [],
    time: [`${first} >= ?`],
    position: [
      ...(isColumn ? [] : [`${first} >= ?1`]),
      `${tuple(order)} > ${tuple([isColumn ? "?" : "?1", ...others])}`,
    ],
  };
}

/** Makes a text once per argument. */
function remembered<Key extends string>(make: (key: Key) => string) {
  const texts = new Map<Key, string>();
  return (key: Key): string => {
    const text = texts.get(key) ?? make(key);
    texts.set(key, text);
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
export function rowSql(table: Table, { cutsTextAtNul, foreignTables }: TableFile): RowSql {
  const columns = table.pageColumns.filter((column) => table.pushColumns.includes(column));
  const read = columns.map((c) => `${readExpression(c, cutsTextAtNul)} AS "${c.name}"`);
  const order = qualifiedOrder(table, foreignTables);
  const select = [...read, ...readOrder(table, order)].join(", ");
  const key = keyNames(table);
  const hasKey = key.map((name) => `${name} IS NOT NULL`);
  const from = (...conditions: string[]) =>
    `FROM "${table.name}" WHERE ${[...conditions, ...hasKey].join(" AND ")}`;
  const keysPerLookup = Math.max(1, Math.min(MAX_KEYS, Math.floor(MAX_VALUES / key.length)));
  const starts = startConditions(order);
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

function keyNames(table: Table): readonly string[] {
  return table.keyColumns.map(({ name }) => `"${table.name}"."${name}"`);
}

/** As many as there are names. */
function marks(names: readonly unknown[]): string {
  return tuple(names.map(() => "?"));
}

// Reads of a table, and their SQL. Names come from the registry: letters, digits and underscores.
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { type Column, columnOf, type Row, type Table } from "../../../domain/sync/table/table.ts";
import { columnsOf, type RowColumns } from "../../../ports/tables/table-store.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import { boundValues, decodeRows, readColumns, valueEncoder } from "./column-values.ts";
import { ORDER_COLUMN, rowOrder } from "./order-column.ts";

/** Consecutive rows: one range of one of the two indexes of every table. */
export interface RowRange {
  readonly order: "table" | "key";
  /** The first row, a time, or the row after a position in the direction of reading. */
  readonly from: "first" | "time" | "position";
  /** Ends with a key. Only in the order of the key. */
  readonly hasEnd?: boolean;
  /** Reads from the end, rows with a key only, as no row compares as before NULL. */
  readonly isReverse?: boolean;
  /** Ends with a time. Only in reverse. */
  readonly hasEndTime?: boolean;
  /** Leaves out rows without a key. */
  readonly hasKey: boolean;
}

/** Statements bind the values of the range first. */
export class TableSql {
  readonly #table: Table;
  /** The order of D-3.1, qualified. */
  readonly #order: readonly string[];
  readonly #key: readonly string[];
  readonly #keyPlace: string;
  readonly #columns: Readonly<
    Record<RowColumns, { readonly list: readonly Column[]; readonly sql: string }>
  >;

  constructor(
    table: Table,
    { cutsTextAtNul, foreignTables }: Pick<SqliteWork, "cutsTextAtNul" | "foreignTables">,
  ) {
    const columns = (which: RowColumns) => {
      const list = columnsOf(table, which);
      return { list, sql: readColumns(list, cutsTextAtNul) };
    };
    this.#table = table;
    const name = `"${table.name}"`;
    this.#key = table.keyColumns.map((column) => `${name}."${column.name}"`);
    const time = table.timestampColumn === null ? [] : [rowOrder(table, name, foreignTables)];
    this.#order = [...time, ...this.#key];
    this.#keyPlace = readColumns(table.keyColumns, cutsTextAtNul);
    this.#columns = { page: columns("page"), sent: columns("sent") };
  }

  columns(columns: RowColumns): readonly Column[] {
    return this.#columns[columns].list;
  }

  /** Reads rows, with `repsync_order` where all have a key. Binds the range, the number of rows, and the rows to skip. */
  rows(columns: RowColumns, range: RowRange): string {
    return `SELECT ${this.#select(columns, range)} ${this.#from(range)} ${this.#by(range)} LIMIT ? OFFSET ?`;
  }

  /** Reads the position of a row. Binds the range, and the number of rows before it. */
  place(range: RowRange): string {
    const time = range.order === "table" ? this.#orderColumn() : [];
    const place = [...time, this.#keyPlace].join(", ");
    return `SELECT ${place} ${this.#from(range)} ${this.#by(range)} LIMIT 1 OFFSET ?`;
  }

  count(range: RowRange): string {
    return `SELECT count(*) AS n ${this.#from(range)}`;
  }

  #select(columns: RowColumns, { hasKey }: RowRange): string {
    return [this.#columns[columns].sql, ...(hasKey ? this.#orderColumn() : [])].join(", ");
  }

  /** Empty without a timestamp, as the key is the order then. */
  #orderColumn(): readonly string[] {
    return this.#table.timestampColumn === null ? [] : [`${this.#order[0]} AS ${ORDER_COLUMN}`];
  }

  #from(range: RowRange): string {
    const { order, from, hasEnd, hasEndTime, hasKey, isReverse = false } = range;
    const all = [
      ...startConditions(order === "table" ? this.#order : this.#key, from, isReverse ? "<" : ">"),
      ...(hasEnd ? [`${tuple(this.#key)} <= ${marks(this.#key)}`] : []),
      ...(hasEndTime ? [`${this.#order[0]} >= ?`] : []),
      ...(hasKey ? this.#key.map((name) => `${name} IS NOT NULL`) : []),
    ];
    return `FROM "${this.#table.name}"${all.length === 0 ? "" : ` WHERE ${all.join(" AND ")}`}`;
  }

  #by({ order, isReverse }: RowRange): string {
    const by = order === "table" ? this.#order : this.#key;
    return `ORDER BY ${by.map((value) => (isReverse ? `${value} DESC` : value)).join(", ")}`;
  }
}

/** No index serves a tuple with an expression, so the expression is compared alone, too. */
function startConditions(
  order: readonly string[],
  from: RowRange["from"],
  behind: "<" | ">",
): readonly string[] {
  const [first = "", ...others] = order;
  if (from === "first") return [];
  if (from === "time") return [`${first} >= ?`];
  if (/^[\w".]+$/.test(first)) return [`${tuple(order)} ${behind} ${marks(order)}`];
  const values = tuple(["?1", ...others.map(() => "?")]);
  return [`${first} ${behind}= ?1`, `${tuple(order)} ${behind} ${values}`];
}

function tuple(names: readonly string[]): string {
  return `(${names.join(", ")})`;
}

function marks(names: readonly unknown[]): string {
  return tuple(names.map(() => "?"));
}

/** Whole rows with one of the values; none in a table without the column. */
export function readRowsBy(
  work: SqliteWork,
  table: Table,
  [columnName, values]: readonly [string, readonly string[]],
): Row[] {
  const column = columnOf(table, columnName);
  if (column === null) return [];
  const sql = `${selectFrom(work, table, table.columns)} WHERE ${isValue(columnName)}`;
  const encode = valueEncoder(column);
  return [...new Set(values)].flatMap((value) =>
    decodeRows(work.all(sql, [encode(value)]), table.columns),
  );
}

/** Rows with the keys, each once; whole ones without `columns`. */
export function readRowsWithKeys(
  work: SqliteWork,
  table: Table,
  keys: readonly Row[],
  columns: readonly Column[] = table.columns,
): Row[] {
  const sql = withKey(work, table, columns);
  const wanted = new Map(keys.map((key) => [keyText(table, key), key]));
  return [...wanted.values()].flatMap((key) =>
    decodeRows(work.all(sql, boundValues(table.keyColumns, key)), columns),
  );
}

/** Reads a row. Binds the key. */
export function withKey(
  work: Pick<SqliteWork, "cutsTextAtNul">,
  table: Table,
  columns: readonly Column[],
): string {
  const isKey = table.keyColumns.map(({ name }) => `[${name}] = ?`).join(" AND ");
  return `${selectFrom(work, table, columns)} WHERE ${isKey}`;
}

function selectFrom(
  { cutsTextAtNul }: Pick<SqliteWork, "cutsTextAtNul">,
  { name }: Table,
  columns: readonly Column[],
): string {
  return `SELECT ${readColumns(columns, cutsTextAtNul)} FROM "${name}"`;
}

/** Compares bytes, whatever collation another tool gave the column; an index serves the first comparison. */
export function isValue(columnName: string): string {
  return `[${columnName}] = ?1 AND [${columnName}] COLLATE BINARY = ?1`;
}

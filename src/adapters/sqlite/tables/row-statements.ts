// The SQL that reads a table for runs and comparisons. Names come from the registry, which allows letters, digits and
// underscores only.
import type { Column, Table } from "../../../domain/sync/table/table.ts";
import { readExpression } from "./column-values.ts";
import { ORDER_COLUMN, type PageStart, qualifiedOrder } from "./statements.ts";

/** Values that one statement binds; SQLite allows more, older versions of it no more than 999. */
const MAX_VALUES = 900;
/** Keys that one statement looks up; more do not make it faster. */
const MAX_KEYS = 100;

/** A bound of a range that is given or not. */
type Bound = "none" | "some";

/** The SQL of one table. Rows without a key are in none of it. */
export interface RowSql {
  /** What each row holds: the columns that runs send. */
  readonly columns: readonly Column[];

  /** Keys that one `byKeys` takes. */
  readonly keysPerLookup: number;

  /** Reads on in the order of the table. Values: those of the start, then the number of rows. */
  after(start: PageStart): string;

  /** Counts the rows; from `time` on with the time as value. */
  count(start: "first" | "time"): string;

  /** Reads the rows with one key, or with `keysPerLookup` of them, which may be the same. Values: the keys. */
  byKeys(keys: "one" | "many"): string;

  /** Reads in the order of the key. Values: those of the bounds that are given, then the number of rows. */
  keyRange(bounds: { readonly after: Bound; readonly through: Bound }): string;
}

/** Makes the SQL of a table. Each row also has its `repsync_order`, where the table has one. */
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
        ...(after === "none" ? [] : [`${tuple(key)} > ${marks(key)}`]),
        ...(through === "none" ? [] : [`${tuple(key)} <= ${marks(key)}`]),
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

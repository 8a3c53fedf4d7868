// Names in statements, and the unique keys that tables have.
import type { SqliteDatabase } from "./database.ts";

/** The column of an INTEGER PRIMARY KEY, which has no index. */
const ROW_NUMBER = "SELECT name FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER'";
/** A null column stands for an expression. */
const UNIQUE_COLUMNS = `SELECT i.name AS key, c.name AS column
  FROM pragma_index_list(?) i, pragma_index_info(i.name) c WHERE i."unique"`;

/** The columns of each unique key without expressions. */
export function uniqueKeys(
  database: SqliteDatabase,
  tableName: string,
): readonly (readonly string[])[] {
  const parts = Map.groupBy(database.all(UNIQUE_COLUMNS, [tableName]), ({ key }) => key);
  const keys = Array.from(parts.values(), (part) => part.map(({ column }) => column));
  const numbers = database.all(ROW_NUMBER, [tableName]).map(({ name }) => [name]);
  return [...keys, ...numbers].filter((columns) => !columns.includes(null)) as string[][];
}

/** Quotes a name, which may have any characters. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

import type { SqliteDatabase } from "./database.ts";

/** The primary key that is the number of the row, which no index is for. */
const ROW_NUMBER = "SELECT name FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER'";
/** The columns of unique keys; null in the place of an expression. */
const UNIQUE_COLUMNS = `SELECT i.name AS key, c.name AS column
  FROM pragma_index_list(?) i, pragma_index_info(i.name) c WHERE i."unique"`;

/** The columns of each unique key of a table, without those that an expression is part of. */
export function uniqueKeys(
  database: SqliteDatabase,
  tableName: string,
): readonly (readonly string[])[] {
  const parts = Map.groupBy(database.all(UNIQUE_COLUMNS, [tableName]), ({ key }) => key);
  const keys = Array.from(parts.values(), (part) => part.map(({ column }) => column));
  const numbers = database.all(ROW_NUMBER, [tableName]).map(({ name }) => [name]);
  return [...keys, ...numbers].filter((columns) => !columns.includes(null)) as string[][];
}

/** A name in SQL, whatever characters another tool gave it. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

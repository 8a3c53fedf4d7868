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
  const keys = new Map<string, (string | null)[]>();
  for (const row of database.all(UNIQUE_COLUMNS, [tableName])) {
    const columns = keys.get(String(row["key"])) ?? [];
    columns.push(row["column"] as string | null);
    keys.set(String(row["key"]), columns);
  }
  const [number] = database.all(ROW_NUMBER, [tableName]);
  if (number !== undefined) keys.set("", [String(number["name"])]);
  return [...keys.values()].filter((columns): columns is string[] => !columns.includes(null));
}

/** A name in SQL, whatever characters another tool gave it. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

// Work on a file by a connection of its own, beside the store or without one.
import { AppError } from "../../../domain/shared/errors.ts";
import type { OpenSqlite, SqliteConnection, SqliteRow, SqliteValue } from "../driver/driver.ts";
import { storeError } from "../driver/result-codes.ts";

/** Every row of a statement that is used once. */
export function allRows(
  connection: SqliteConnection,
  sql: string,
  values: readonly SqliteValue[] = [],
): SqliteRow[] {
  const statement = connection.prepare(sql);
  try {
    return statement.all(values);
  } finally {
    statement.finalize();
  }
}

export function run(
  connection: SqliteConnection,
  sql: string,
  values: readonly SqliteValue[] = [],
): void {
  const statement = connection.prepare(sql);
  try {
    statement.run(values);
  } finally {
    statement.finalize();
  }
}

/** The names of tables but SQLite's own. */
export function tableNames(connection: SqliteConnection): readonly string[] {
  const tables = `SELECT name FROM sqlite_schema
    WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT GLOB 'sqlite_*' ORDER BY name`;
  return allRows(connection, tables).map(({ name }) => String(name));
}

/** True for the tables of the registry, and of other programs. */
export function isRowTable(name: string): boolean {
  return !name.startsWith("repsync_");
}

/** Opens the file of a backup for some work and closes it. Throws `file_failed` for what the driver throws. */
export async function withBackup<T>(
  openSqlite: OpenSqlite,
  path: string,
  work: (connection: SqliteConnection) => T | Promise<T>,
): Promise<T> {
  const connection = await openSqlite(path);
  try {
    return await work(connection);
  } catch (error) {
    const told = storeError("store_unavailable", connection.resultCode(error), error);
    if (!(told instanceof AppError) || told === error) throw told;
    const text = told.message.replace("The database is unavailable", "The backup failed");
    throw new AppError("file_failed", text, { cause: error });
  } finally {
    connection.close();
  }
}

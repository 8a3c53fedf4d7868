import { AppError } from "../../../domain/shared/errors.ts";
import type { OpenSqlite } from "../driver/driver.ts";
import { storeError } from "../driver/errors.ts";
import { OpenConnection } from "../driver/open-connection.ts";

/** All tables but SQLite's own. */
export function tableNames(connection: OpenConnection): readonly string[] {
  const tables = `SELECT name FROM sqlite_schema
    WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT GLOB 'sqlite_*' ORDER BY name`;
  return connection.all(tables).map(({ name }) => String(name));
}

/** True for tables of the registry and of other programs. */
export function isRowTable(name: string): boolean {
  return !name.startsWith("repsync_");
}

/** Opens a backup, does the work and closes it. Throws `file_failed` for errors of the driver. */
export async function withBackup<T>(
  openSqlite: OpenSqlite,
  path: string,
  work: (connection: OpenConnection) => T | Promise<T>,
): Promise<T> {
  const connection = new OpenConnection(await openSqlite(path));
  try {
    return await work(connection);
  } catch (error) {
    const told = storeError("store_unavailable", connection.driver.resultCode(error), error);
    if (!(told instanceof AppError) || told === error) throw told;
    const text = told.message.replace("The database is unavailable", "The backup failed");
    throw new AppError("file_failed", text, { cause: error });
  } finally {
    connection.close();
  }
}

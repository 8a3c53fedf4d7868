import { Database, SQLiteError } from "bun:sqlite";
import type { SqliteConnection, SqliteRow, SqliteValue } from "./driver.ts";

/** Opens a database with the driver that comes with Bun. */
export async function openBunSqlite(path: string): Promise<SqliteConnection> {
  const database = new Database(path, { create: true, readwrite: true });
  return {
    cutsTextAtNul: false,
    get isInTransaction() {
      return database.inTransaction;
    },
    prepare(sql) {
      const statement = database.prepare<SqliteRow, SqliteValue[]>(sql);
      return {
        all: (values) => statement.all(...values),
        run: (values) => statement.run(...values).changes,
        finalize: () => statement.finalize(),
      };
    },
    close: () => database.close(),
    resultCode: (error) => (error instanceof SQLiteError ? error.errno & 0xff : null),
  };
}

import { DatabaseSync } from "node:sqlite";
import type { SqliteConnection, SqliteRow } from "./connection.ts";

export async function openNodeSqlite(path: string, readOnly = false): Promise<SqliteConnection> {
  // Foreign keys are as SQLite and Bun have them: rows of one table come before those of another.
  const database = new DatabaseSync(path, { readOnly, enableForeignKeyConstraints: false });
  return {
    cutsTextAtNul: readsNulAsEnd(),
    get isInTransaction() {
      return database.isTransaction;
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        all: (values) => statement.all(...values) as SqliteRow[],
        iterate: (values) => statement.iterate(...values) as Iterable<SqliteRow>,
        run: (values) => Number(statement.run(...values).changes),
        // The driver frees a statement with its last reference, or with the database.
        finalize: () => {},
      };
    },
    close: () => database.close(),
    resultCode(error) {
      const code = error instanceof Error && "errcode" in error ? error.errcode : null;
      return typeof code === "number" ? code : null;
    },
  };
}

/** Asks a database in memory, as a file may be locked. */
function readsNulAsEnd(): boolean {
  const database = new DatabaseSync(":memory:");
  const row = database.prepare("SELECT 'a' || char(0) || 'b' AS text").get();
  database.close();
  return row?.["text"] !== "a\0b";
}

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
    checkpointAside: () => checkpointAside(path),
    close: () => database.close(),
    resultCode: (error) => (error instanceof SQLiteError ? error.errno & 0xff : null),
  };
}

function checkpointAside(path: string): Promise<void> {
  const worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), { ref: false });
  const ended = new Promise<void>((resolve) => {
    worker.onmessage = () => resolve();
    // The log is copied by a later commit.
    worker.onerror = () => resolve();
    worker.addEventListener("close", () => resolve());
  });
  worker.postMessage(path);
  return ended.finally(() => worker.terminate());
}

import { Database, SQLiteError } from "bun:sqlite";
import type { AsideWork, SqliteConnection, SqliteRow, SqliteValue } from "./connection.ts";

export async function openBunSqlite(path: string, isReadOnly = false): Promise<SqliteConnection> {
  const options = isReadOnly ? { readonly: true } : { create: true, readwrite: true };
  const database = new Database(path, options);
  return {
    cutsTextAtNul: false,
    get isInTransaction() {
      return database.inTransaction;
    },
    prepare(sql) {
      const statement = database.prepare<SqliteRow, SqliteValue[]>(sql);
      return {
        all: (values) => statement.all(...values),
        iterate: (values) => statement.iterate(...values),
        run: (values) => statement.run(...values).changes,
        finalize: () => statement.finalize(),
      };
    },
    runAside,
    close: () => database.close(),
    resultCode: (error) => (error instanceof SQLiteError ? error.errno : null),
  };
}

function runAside(module: URL, job: unknown): AsideWork {
  const worker = new Worker(module, { ref: false });
  const ended = new Promise<unknown>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.addEventListener("close", () => reject(new Error("The thread has ended")));
  });
  worker.postMessage(job);
  return { ended: ended.finally(() => worker.terminate()), stop: () => worker.terminate() };
}

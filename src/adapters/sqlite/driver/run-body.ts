// Runs work of several calls in one transaction of one connection.
import type { SqliteRow, SqliteValue } from "./driver.ts";
import type { OpenConnection } from "./open-connection.ts";

/** What such work has in hand. */
export interface SqliteBody {
  all(sql: string, values?: readonly SqliteValue[]): SqliteRow[];
  run(sql: string, values?: readonly SqliteValue[]): number;
  /** The time that all processes on the file share, in milliseconds since 1970. */
  nowMs(): number;
  /** Lets other work of this process have its turn. */
  turn(): Promise<void>;
}

/**
 * Commits when the work has ended, rolls back when it or the commit fails. The work holds the connection, so it waits for
 * nothing but `turn`: that another turn of the event loop passes fails it.
 */
export async function runBody<T>(
  { driver, statements }: OpenConnection,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  { nowMs, work }: { nowMs: () => number; work: (body: SqliteBody) => Promise<T> },
): Promise<T> {
  statements.get(begin).run([]);
  let state: "running" | "having a turn" | "over" = "running";
  const assertRunning = () => {
    if (state !== "running") throw new Error("A body goes on after its end, or within a turn");
  };
  const waits = Promise.withResolvers<never>();
  const look = () => {
    if (state === "running")
      waits.reject(new Error("A body waits for what is not its transaction"));
  };
  let watch = setImmediate(look);
  const body: SqliteBody = {
    all: (sql, values = []) => {
      assertRunning();
      return statements.get(sql).all(values);
    },
    run: (sql, values = []) => {
      assertRunning();
      return statements.get(sql).run(values);
    },
    nowMs,
    turn: async () => {
      assertRunning();
      state = "having a turn";
      clearImmediate(watch);
      await new Promise((resolve) => setImmediate(resolve));
      state = "running";
      watch = setImmediate(look);
    },
  };
  try {
    const result = await Promise.race([work(body), waits.promise]);
    statements.get("COMMIT").run([]);
    return result;
  } catch (error) {
    if (driver.isInTransaction) statements.get("ROLLBACK").run([]);
    throw error;
  } finally {
    state = "over";
    clearImmediate(watch);
  }
}

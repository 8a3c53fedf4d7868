import type { Steps } from "../../../ports/runtime/turns.ts";
import type { SqliteRow, SqliteStatement, SqliteValue } from "./driver.ts";
import type { OpenConnection } from "./open-connection.ts";

export interface SqliteWork {
  all(sql: string, values?: readonly SqliteValue[]): SqliteRow[];
  run(sql: string, values?: readonly SqliteValue[]): number;
  /** Valid until the work ends or asks for two other statements. */
  statement(sql: string): SqliteStatement;
  /** Milliseconds since 1970, shared by all processes on the file. */
  nowMs(): number;
  /** Why a statement refused one record, where the transaction can go on without it; else null. */
  recordReason(error: unknown): string | null;
  /** Names of tables that another program made. D-11.4. */
  readonly foreignTables: ReadonlySet<string>;
  /** As in `SqliteConnection`. */
  readonly cutsTextAtNul: boolean;
}

export interface SqliteBody extends SqliteWork {
  /** Gives other work of this process a turn. */
  turn(): Promise<void>;
  /** Does all steps, with turns for others. */
  inSteps<T>(steps: Steps<T>): Promise<T>;
  /** To be called before rows of the registry's tables are written. */
  beginRows(): void;
  noteChanged(tableName: string): void;
}

/** Waits within a body. No other work uses the connection meanwhile. */
type Pause = (wait: () => Promise<void>) => Promise<void>;

export interface BodyTools {
  readonly work: Pick<SqliteWork, "nowMs" | "recordReason" | "foreignTables" | "cutsTextAtNul">;
  inSteps<T>(steps: Steps<T>, pause: Pause): Promise<T>;
  /** False once the database is closed, maybe during a turn. */
  isOpen(): boolean;
  /** Throws after a turn when the database was closed, or the time of the call is over. */
  goOn(): void;
  onRows(): void;
  /** To be called right before the commit. */
  onCommit(tables: readonly string[]): void;
}

/**
 * Commits when the work has ended, rolls back on a failure. The work holds the connection: when it waits for anything but its own
 * calls, and a turn of the event loop passes, it fails.
 */
export async function runBody<T>(
  connection: OpenConnection,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  { work, tools }: { work: (body: SqliteBody) => Promise<T>; tools: BodyTools },
): Promise<T> {
  connection.run(begin);
  const changed = new Set<string>();
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
  const pause: Pause = async (wait) => {
    assertRunning();
    state = "having a turn";
    clearImmediate(watch);
    try {
      await wait();
      tools.goOn();
    } finally {
      if (state === "having a turn") {
        state = "running";
        watch = setImmediate(look);
      }
    }
  };
  const statement = (sql: string) => {
    assertRunning();
    return connection.statement(sql);
  };
  const body: SqliteBody = {
    nowMs: () => tools.work.nowMs(),
    recordReason: (error) => tools.work.recordReason(error),
    foreignTables: tools.work.foreignTables,
    cutsTextAtNul: tools.work.cutsTextAtNul,
    statement,
    all: (sql, values = []) => statement(sql).all(values),
    run: (sql, values = []) => statement(sql).run(values),
    turn: () => pause(() => new Promise((resolve) => setImmediate(resolve))),
    inSteps: (steps) => tools.inSteps(steps, pause),
    beginRows: () => tools.onRows(),
    noteChanged: (tableName) => changed.add(tableName),
  };
  try {
    const result = await Promise.race([work(body), waits.promise]);
    if (changed.size > 0) tools.onCommit([...changed]);
    connection.run("COMMIT");
    return result;
  } catch (error) {
    if (tools.isOpen() && connection.driver.isInTransaction) connection.run("ROLLBACK");
    throw error;
  } finally {
    state = "over";
    clearImmediate(watch);
  }
}

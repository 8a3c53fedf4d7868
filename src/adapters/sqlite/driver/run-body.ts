// Runs work of several calls in one transaction of one connection.
import type { Steps } from "../../../ports/runtime/turns.ts";
import type { SqliteRow, SqliteStatement, SqliteValue } from "./driver.ts";
import type { OpenConnection } from "./open-connection.ts";

/** The means of work within a transaction. */
export interface SqliteWork {
  all(sql: string, values?: readonly SqliteValue[]): SqliteRow[];
  run(sql: string, values?: readonly SqliteValue[]): number;
  /** A prepared statement, valid until the work that asks for it ends or asks for two others. */
  statement(sql: string): SqliteStatement;
  /** The time that all processes on the file share, in milliseconds since 1970. */
  nowMs(): number;
  /** Why a statement refused a record, if the transaction goes on without it; null when the whole work has to fail. */
  recordReason(error: unknown): string | null;
  /** Names of the registry's tables that another program made. D-11.4. */
  readonly foreignTables: ReadonlySet<string>;
  /** True when text after a NUL is lost in reading, unless the statement casts it to BLOB. */
  readonly cutsTextAtNul: boolean;
}

/** The means of work that makes several calls. */
export interface SqliteBody extends SqliteWork {
  /** Lets other work of this process have its turn. */
  turn(): Promise<void>;
  /** Does all steps, with turns for others in between. */
  inSteps<T>(steps: Steps<T>): Promise<T>;
  /** Notes that rows of the registry's tables are about to be written. */
  beginRows(): void;
  /** Notes that rows of a table of the registry have changed. */
  noteChanged(tableName: string): void;
}

/** Lets a body wait for something: until it has ended nobody else uses the connection. */
type Pause = (wait: () => Promise<void>) => Promise<void>;

/** The parts of its database that a body uses. */
export interface BodyTools {
  readonly work: Pick<SqliteWork, "nowMs" | "recordReason" | "foreignTables" | "cutsTextAtNul">;
  inSteps<T>(steps: Steps<T>, pause: Pause): Promise<T>;
  /** False once the database was closed, which may happen within a turn. */
  isOpen(): boolean;
  /** Throws where a body may not go on behind a turn: the database was closed, or the time of the call is over. */
  goOn(): void;
  onRows(): void;
  /** Called right before a commit with the tables that have changed. */
  onCommit(tables: readonly string[]): void;
}

/**
 * Commits when the work has ended, rolls back when it or the commit fails. The work holds the connection, so it waits for
 * nothing but its calls: that another turn of the event loop passes fails it.
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

// Runs work on a connection: in its turn, again while another process holds the file, and as one transaction.
import { AppError } from "../../../domain/shared/errors.ts";
import { MAX_TIMER_MS } from "../../../ports/runtime/runtime.ts";
import { BodyQueues, type Steps, type Turns } from "../../../ports/runtime/turns.ts";
import type {
  OpenConnection,
  SqliteConnection,
  SqliteRow,
  SqliteStatement,
  SqliteValue,
  TableStates,
} from "./connection.ts";
import { isBusy } from "./errors.ts";

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

/** The database of a body. */
export interface BodyHost
  extends Pick<SqliteWork, "nowMs" | "recordReason" | "foreignTables" | "cutsTextAtNul"> {
  readonly states: Pick<TableStates, "note">;
  /** False once the database is closed, maybe during a turn. */
  readonly isOpen: boolean;
  assertOpen(): void;
  /** Begins the first turn of work on many rows. */
  turns(): Turns;
  /** To be called in the pauses of a long write. */
  onLongWrite(): Promise<void>;
}

interface BodyCall<T> {
  readonly work: (body: SqliteBody) => Promise<T>;
  readonly host: BodyHost;
  readonly end: TimeLimit;
  onRows(): void;
}

/**
 * Commits when the work has ended, rolls back on a failure. The work holds the connection: when it waits for anything but its own
 * calls, and a turn of the event loop passes, it fails.
 */
export async function runBody<T>(
  connection: OpenConnection,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  { work, host, end, onRows }: BodyCall<T>,
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
      host.assertOpen();
      if (end.signal.aborted) throw new AppError("store_unavailable", "The database took too long");
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
    nowMs: () => host.nowMs(),
    recordReason: (error) => host.recordReason(error),
    foreignTables: host.foreignTables,
    cutsTextAtNul: host.cutsTextAtNul,
    statement,
    all: (sql, values = []) => statement(sql).all(values),
    run: (sql, values = []) => statement(sql).run(values),
    turn: () => pause(nextTurn),
    inSteps: (steps) => runSteps(steps, host, pause),
    beginRows: onRows,
    noteChanged: (tableName) => changed.add(tableName),
  };
  try {
    const result = await Promise.race([work(body), waits.promise]);
    if (changed.size > 0) host.states.note([...changed]);
    connection.run("COMMIT");
    return result;
  } catch (error) {
    if (host.isOpen && connection.driver.isInTransaction) connection.run("ROLLBACK");
    throw error;
  } finally {
    state = "over";
    clearImmediate(watch);
  }
}

/** Resolves after other work of this process has had a turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

// A push of 300,000 records would hold the event loop for seconds: its steps give others a turn every 12 ms, while a second
// connection reads the state before. The commit itself is one piece, of about a millisecond a megabyte of log.

/** A write is long after this many steps, or after one step that takes this long, such as a row of tens of megabytes. */
const LONG_WRITE_STEPS = 20_000;
const LONG_STEP_MS = 100;

/** Does the steps of a write, with pauses for others, and returns the result of the last step. */
async function runSteps<T>(
  steps: Steps<T>,
  host: Pick<BodyHost, "turns" | "onLongWrite">,
  pause: Pause,
): Promise<T> {
  const turns = host.turns();
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) {
    const isMany = ++count % LONG_WRITE_STEPS === 0;
    if (!isMany && !turns.isOver) continue;
    const isLong = isMany || turns.elapsedMs >= LONG_STEP_MS;
    await pause(async () => {
      if (isLong) await host.onLongWrite();
      await turns.next();
    });
  }
  return step.value;
}

/** Lets one work at a time hold a connection, in the order of asking. */
export class WorkQueue {
  readonly #places = new BodyQueues();
  #taken = 0;

  get isTaken(): boolean {
    return this.#taken > 0;
  }

  /** Throws `store_unavailable` when the wait for the connection takes too long. */
  async run<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
    const { turn, leave } = this.#places.enter("write");
    this.#taken++;
    try {
      if (this.#taken > 1) await inTime(turn, limit.signal);
      return await work();
    } finally {
      this.#taken--;
      leave();
    }
  }
}

async function inTime(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const text = "The database is unavailable: it is being written to";
  const { promise: late, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new AppError("store_unavailable", text));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([late, turn]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A time limit. It starts when its signal is first read, and counts real time, as a busy event loop makes waits longer. */
export class TimeLimit {
  readonly #durationMs: number;
  #signal: AbortSignal | null = null;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.timeout(Math.min(this.#durationMs, MAX_TIMER_MS));
    return this.#signal;
  }
}

/** The longest wait between tries; short, to catch the pauses of a busy writer. */
const BUSY_WAIT_MAX_MS = 10;

/** Repeats work while another process holds the file, until the limit. Throws the driver's errors. */
export async function whileBusy<T>(
  driver: Pick<SqliteConnection, "resultCode">,
  limit: TimeLimit,
  work: () => T | Promise<T>,
): Promise<T> {
  for (let waitMs = 1; ; waitMs = Math.min(waitMs + 1, BUSY_WAIT_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(driver.resultCode(error)) || limit.signal.aborted) throw error;
    }
    await new Promise((wake) => setTimeout(wake, waitMs));
  }
}

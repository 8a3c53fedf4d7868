import { resolve } from "node:path";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { REQUEST_DEADLINE_MS } from "../../../domain/shared/limits.ts";
import type { CallLimit } from "../../../ports/documents.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import { Checkpoints } from "./checkpoints.ts";
import { DatabaseFile, makeDatabaseFile } from "./database-file.ts";
import type {
  OpenSqlite,
  SqliteConnection,
  SqliteRow,
  SqliteStatement,
  SqliteValue,
} from "./driver.ts";
import { type FailureKind, FILE_HINT, isDamage, recordReason, storeError } from "./errors.ts";
import {
  CHECKPOINT_PAGES,
  OpenConnection,
  PRAGMAS,
  READ_ONLY_PRAGMAS,
  READER_PRAGMAS,
} from "./open-connection.ts";
import { type BodyTools, runBody, type SqliteBody, type SqliteWork } from "./run-body.ts";
import { TableChanges } from "./table-changes.ts";
import { runSteps, TimeLimit, WriteQueue, whileBusy } from "./write-queue.ts";

/** Pushes change the same pages again and again: with a longer log they are a quarter faster. */
const PUSH_CHECKPOINT_PAGES = 4_000;

const CALLS_PER_TURN = 16;

export interface SqliteOptions {
  /** Longest wait for another process that holds the file. */
  readonly busyDeadlineMs?: number;
  /** Tells durations, and the time on which all processes on a file must agree. */
  readonly clock: Clock;
}

const OPEN_PROBLEM = "The database cannot be opened";

/**
 * A SQLite file and its transactions. Work of `read` and `write` is synchronous and never interleaves with other work of this
 * process; it runs again when the file was busy. Only a body gives others turns: reads then go by another connection, which sees
 * the file as it was before, and writes wait in a queue.
 */
export class SqliteDatabase implements SqliteWork {
  /** Names of tables that another program made, as of the last preparation. */
  readonly foreignTables = new Set<string>();
  /** Called with each failure of a damaged file. */
  onDamage: (failure: AppError) => void = () => {};
  readonly #writer: OpenConnection;
  /** Null for `:memory:`, which has one connection. */
  #reader: OpenConnection | null = null;
  /** For read bodies, one at a time. Null for `:memory:`. */
  #bodyReader: OpenConnection | null = null;
  readonly #readQueue = new WriteQueue();
  /** The connection of the present work. */
  #current: OpenConnection;
  readonly #queue = new WriteQueue();
  readonly #checkpoints: Checkpoints;
  /** Null for `:memory:`. */
  readonly #file: DatabaseFile | null;
  readonly #busyDeadlineMs: number;
  readonly #clock: Clock;
  readonly #isReadOnly: boolean;
  readonly #changes = new TableChanges(this);
  #calls = 0;
  readonly #turns: Turns;
  #isClosed = false;
  #closing: Promise<void> | null = null;

  private constructor(
    connection: SqliteConnection,
    file: DatabaseFile | null,
    { busyDeadlineMs = REQUEST_DEADLINE_MS, clock }: SqliteOptions,
    isReadOnly = false,
  ) {
    this.#writer = new OpenConnection(connection);
    this.#current = this.#writer;
    this.#checkpoints = new Checkpoints(this.#writer, file?.path ?? null);
    this.#file = file;
    this.#busyDeadlineMs = busyDeadlineMs;
    this.#clock = clock;
    this.#turns = new Turns(this, () => this.nextTurn());
    this.#isReadOnly = isReadOnly;
  }

  /** Opens or makes a file with its folder, or `:memory:`. Throws `store_unavailable` when it cannot be opened or is no database. */
  static async open(
    openSqlite: OpenSqlite,
    path: string,
    options: SqliteOptions,
  ): Promise<SqliteDatabase> {
    const file = path === ":memory:" ? null : resolve(path);
    try {
      if (file !== null) await makeDatabaseFile(file);
      const connection = await openSqlite(file ?? path);
      const opened = file === null ? null : await DatabaseFile.find(file);
      const database = new SqliteDatabase(connection, opened, options);
      await database.#configure(file === null ? null : () => openSqlite(file));
      return database;
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError("store_unavailable", OPEN_PROBLEM, { cause, hint: FILE_HINT });
    }
  }

  /** Opens an existing file for `read` alone: no byte of it or beside it changes. Throws `store_unavailable` when it cannot be opened. */
  static async openReadOnly(
    openSqlite: OpenSqlite,
    path: string,
    options: SqliteOptions,
  ): Promise<SqliteDatabase> {
    try {
      const file = await DatabaseFile.find(resolve(path));
      // A read-only connection does not copy an existing log into the file when it closes; only a writing one removes the log that
      // reading makes.
      const connection = await openSqlite(path, file.hasLog);
      const database = new SqliteDatabase(connection, file, options, true);
      database.#writer.set(READ_ONLY_PRAGMAS);
      return database;
    } catch (cause) {
      throw new AppError("store_unavailable", OPEN_PROBLEM, { cause, hint: FILE_HINT });
    }
  }

  get cutsTextAtNul(): boolean {
    return this.#writer.driver.cutsTextAtNul;
  }

  statement(sql: string): SqliteStatement {
    return this.#current.statement(sql);
  }

  all(sql: string, values: readonly SqliteValue[] = []): SqliteRow[] {
    return this.#current.all(sql, values);
  }

  run(sql: string, values: readonly SqliteValue[] = []): number {
    return this.#current.run(sql, values);
  }

  /** Runs work on a snapshot of all commits so far. Throws `store_unavailable` for every failure of the database. */
  async read<T>(work: () => T, deadlineMs = this.#busyDeadlineMs): Promise<T> {
    if (this.#isTurnDue()) await this.#turns.next();
    const limit = new TimeLimit(deadlineMs);
    const read = () => this.#retried("store_unavailable", limit, () => this.#readOnce(work));
    return this.#reader === null ? this.#queue.run(limit, read) : read();
  }

  /** Runs synchronous work as one durable commit. Work without a change waits for no other process. Throws as `read`. */
  async write<T>(work: (body: SqliteBody) => T, limit?: CallLimit): Promise<T> {
    return await this.writeBody(async (body) => work(body), limit, "BEGIN");
  }

  /** Runs a body as one durable commit. Throws as `read`, once rows have changed `commit_failed` instead, and the errors of the body. */
  async writeBody<T>(
    work: (body: SqliteBody) => Promise<T>,
    { triesMs, endMs } = this.#defaultLimit,
    begin: "BEGIN" | "BEGIN IMMEDIATE" = "BEGIN IMMEDIATE",
  ): Promise<T> {
    if (this.#isTurnDue()) await this.#turns.next();
    let kind: FailureKind = "store_unavailable";
    const onRows = () => {
      kind = "commit_failed";
      this.#checkpoints.copyAt(PUSH_CHECKPOINT_PAGES);
    };
    const end = new TimeLimit(endMs);
    const body = { work, tools: this.#bodyTools(end, onRows) };
    return this.#queue.run(end, () =>
      this.#retried(
        () => kind,
        new TimeLimit(Math.min(triesMs, this.#busyDeadlineMs)),
        async () => {
          this.#file?.check();
          try {
            return await runBody(this.#writer, begin, body);
          } finally {
            this.#checkpoints.endWrite();
            if (kind === "commit_failed") this.#checkpoints.copyAt(CHECKPOINT_PAGES);
          }
        },
      ),
    );
  }

  /** Runs a body on a snapshot of all commits so far. Throws as `read`, and the errors of the body. */
  async readBody<T>(
    work: (body: SqliteBody) => Promise<T>,
    { triesMs, endMs } = this.#defaultLimit,
  ): Promise<T> {
    if (this.#isTurnDue()) await this.#turns.next();
    const limit = new TimeLimit(triesMs);
    const [queue, connection] =
      this.#bodyReader === null ? [this.#queue, this.#writer] : [this.#readQueue, this.#bodyReader];
    const body = { work, tools: this.#bodyTools(new TimeLimit(endMs), () => {}) };
    return queue.run(limit, () =>
      this.#retried("store_unavailable", limit, () => runBody(connection, "BEGIN", body)),
    );
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  /** Resolves after other work of this process has had a turn. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** True at one of `CALLS_PER_TURN` calls, and after some time. Without turns, calls in a row would hold up everything else. */
  #isTurnDue(): boolean {
    const isDue = ++this.#calls % CALLS_PER_TURN === 0 || this.#turns.isOver;
    return this.#file !== null && isDue;
  }

  /** The state of a table, within `read`. The same name twice means that no process has committed to the table in between. */
  versionOf(tableName: string): string {
    // By the writing connection: while it is in a write, no other process commits.
    const [row] = this.#writer.all("PRAGMA data_version");
    return `${row?.["data_version"]}.${this.#changes.stateOf(tableName)}`;
  }

  recordReason(error: unknown): string | null {
    const { driver } = this.#writer;
    return driver.isInTransaction ? recordReason(driver.resultCode(error), error) : null;
  }

  /** Throws `store_unavailable` unless the file answers in time and is still the one that was opened. */
  async ping(timeoutMs: number): Promise<void> {
    // In `:memory:` a write of this process is under way: the store answers.
    if (this.#reader === null && this.#queue.isTaken && !this.#isClosed) return;
    await this.read(() => {
      this.#file?.check();
      this.all("SELECT count(*) FROM sqlite_schema");
    }, timeoutMs);
  }

  /** Finalizes every statement and closes the file. Idempotent; work that still waits for the file fails. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    await this.#checkpoints.close();
    try {
      if (!this.#isReadOnly) this.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process uses the file; the last one to close it copies the log.
    }
    this.#reader?.close();
    this.#bodyReader?.close();
    this.#writer.close();
  }

  async #configure(openReader: (() => Promise<SqliteConnection>) | null): Promise<void> {
    const limit = new TimeLimit(this.#busyDeadlineMs);
    const set = (connection: OpenConnection, pragmas: Readonly<Record<string, string | number>>) =>
      this.#retried("store_unavailable", limit, () => connection.set(pragmas));
    try {
      await set(this.#writer, PRAGMAS);
      if (openReader === null) return;
      this.#reader = new OpenConnection(await openReader());
      this.#bodyReader = new OpenConnection(await openReader());
      // Some settings read the file, which another process may be opening.
      await set(this.#reader, READER_PRAGMAS);
      await set(this.#bodyReader, READER_PRAGMAS);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #readOnce<T>(work: () => T): T {
    const isWriting = this.#writer.driver.isInTransaction;
    this.#current = (isWriting ? this.#reader : null) ?? this.#writer;
    try {
      this.run("BEGIN");
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      if (this.#current.driver.isInTransaction) this.run("ROLLBACK");
      throw error;
    } finally {
      this.#current = this.#writer;
    }
  }

  get #defaultLimit(): CallLimit {
    return { triesMs: this.#busyDeadlineMs, endMs: this.#busyDeadlineMs };
  }

  #bodyTools(end: TimeLimit, onRows: () => void): BodyTools {
    return {
      work: this,
      inSteps: (steps, pause) =>
        runSteps(this, steps, (isLong, turn) =>
          pause(async () => {
            if (isLong) {
              this.#checkpoints.beginLongWrite();
              await this.#file?.syncLog();
            }
            await turn();
          }),
        ),
      isOpen: () => !this.#isClosed,
      goOn: () => {
        this.#assertOpen();
        if (end.signal.aborted)
          throw new AppError("store_unavailable", "The database took too long");
      },
      onRows,
      onCommit: (tables) => this.#changes.note(tables),
    };
  }

  async #retried<T>(
    kind: FailureKind | (() => FailureKind),
    limit: TimeLimit,
    work: () => T | Promise<T>,
  ): Promise<T> {
    try {
      return await whileBusy(this.#writer.driver, limit, async () => {
        this.#assertOpen();
        return await work();
      });
    } catch (error) {
      const code = this.#writer.driver.resultCode(error);
      const told = typeof kind === "string" ? kind : kind();
      const failure = storeError(told, code, error);
      if (isDamage(code) && isAppError(failure)) this.onDamage(failure);
      throw failure;
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new AppError("store_unavailable", "The database is closed");
  }
}

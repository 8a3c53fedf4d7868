import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { REQUEST_DEADLINE_MS } from "../../../domain/shared/limits.ts";
import type { CallLimit } from "../../../ports/documents.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import {
  CHECKPOINT_PAGES,
  type OpenConnection,
  type OpenSqlite,
  type SqliteRow,
  type SqliteStatement,
  type SqliteValue,
  TableStates,
} from "./connection.ts";
import { Checkpoints, type DatabaseFile, type OpenFile, openFile } from "./database-file.ts";
import { type FailureKind, isDamage, recordReason, storeError } from "./errors.ts";
import {
  type BodyHost,
  nextTurn,
  runBody,
  type SqliteBody,
  type SqliteWork,
  TimeLimit,
  WorkQueue,
  whileBusy,
} from "./run-body.ts";

/** Pushes change the same pages again and again: with a longer log they are a quarter faster. */
const PUSH_CHECKPOINT_PAGES = 4_000;

const CALLS_PER_TURN = 16;

const UNAVAILABLE = () => "store_unavailable" as const;

export interface SqliteOptions {
  /** Longest wait for another process that holds the file. */
  readonly busyDeadlineMs?: number;
  /** Tells durations, and the time on which all processes on a file must agree. */
  readonly clock: Clock;
}

/**
 * A SQLite file and its transactions. Work of `read` and `write` is synchronous and never interleaves with other work of this
 * process; it runs again when the file was busy. Only a body gives others turns: reads then go by another connection, which sees
 * the file as it was before, and writes wait in a queue.
 */
export class SqliteDatabase implements SqliteWork, BodyHost {
  /** Names of tables that another program made, as of the last preparation. */
  readonly foreignTables = new Set<string>();
  /** Called with each failure of a damaged file. */
  onDamage: (failure: AppError) => void = () => {};
  readonly states: TableStates;
  /** Null for `:memory:`. */
  readonly #file: DatabaseFile | null;
  readonly #writer: OpenConnection;
  /** For reads, and for read bodies, one at a time. Null for `:memory:`. */
  readonly #reader: OpenConnection | null;
  readonly #bodyReader: OpenConnection | null;
  /** The connection of the present work. */
  #current: OpenConnection;
  readonly #queue = new WorkQueue();
  readonly #readQueue = new WorkQueue();
  readonly #checkpoints: Checkpoints;
  readonly #busyDeadlineMs: number;
  readonly #clock: Clock;
  #calls = 0;
  readonly #turns: Turns;
  #isClosed = false;
  #closing: Promise<void> | null = null;

  constructor(
    { file, writer, readers }: OpenFile,
    { busyDeadlineMs = REQUEST_DEADLINE_MS, clock }: SqliteOptions,
  ) {
    this.#file = file;
    this.#writer = writer;
    [this.#reader, this.#bodyReader] = readers ?? [null, null];
    this.#current = writer;
    this.states = new TableStates(writer);
    this.#checkpoints = new Checkpoints(writer, file?.path ?? null);
    this.#busyDeadlineMs = busyDeadlineMs;
    this.#clock = clock;
    this.#turns = this.turns();
  }

  /** Opens or makes a file with its folder, or `:memory:`. Throws `store_unavailable` when it cannot be opened or is no database. */
  static async open(
    openSqlite: OpenSqlite,
    path: string,
    options: SqliteOptions,
  ): Promise<SqliteDatabase> {
    const limit = new TimeLimit(options.busyDeadlineMs ?? REQUEST_DEADLINE_MS);
    return new SqliteDatabase(await openFile(openSqlite, path, limit), options);
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
    const read = () => this.#retried(UNAVAILABLE, limit, () => this.#readOnce(work));
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
    const body = { work, host: this, end, onRows };
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
    const body = { work, host: this, end: new TimeLimit(endMs), onRows: () => {} };
    return queue.run(limit, () =>
      this.#retried(UNAVAILABLE, limit, () => runBody(connection, "BEGIN", body)),
    );
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  /** Begins the first turn of work on many rows. */
  turns(): Turns {
    return new Turns(this.#clock, nextTurn);
  }

  /** True at one of `CALLS_PER_TURN` calls, and after some time. Without turns, calls in a row would hold up everything else. */
  #isTurnDue(): boolean {
    const isDue = ++this.#calls % CALLS_PER_TURN === 0 || this.#turns.isOver;
    return this.#file !== null && isDue;
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
      // A file that is only read has no readers, and must stay as it is.
      if (this.#reader !== null) this.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process uses the file; the last one to close it copies the log.
    }
    this.#reader?.close();
    this.#bodyReader?.close();
    this.#writer.close();
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

  async onLongWrite(): Promise<void> {
    this.#checkpoints.beginLongWrite();
    await this.#file?.syncLog();
  }

  async #retried<T>(
    kind: () => FailureKind,
    limit: TimeLimit,
    work: () => T | Promise<T>,
  ): Promise<T> {
    try {
      return await whileBusy(this.#writer.driver, limit, async () => {
        this.assertOpen();
        return await work();
      });
    } catch (error) {
      const code = this.#writer.driver.resultCode(error);
      const failure = storeError(kind(), code, error);
      if (isDamage(code) && isAppError(failure)) this.onDamage(failure);
      throw failure;
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  assertOpen(): void {
    if (!this.isOpen) throw new AppError("store_unavailable", "The database is closed");
  }
}

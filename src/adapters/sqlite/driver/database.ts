// One SQLite file and its transactions; every store of this adapter works through it.
import { resolve } from "node:path";
import { AppError } from "../../../domain/shared/errors.ts";
import { REQUEST_DEADLINE_MS } from "../../../domain/shared/limits.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import { DatabaseFile, makeDatabaseFile } from "./database-file.ts";
import {
  type OpenSqlite,
  type SqliteConnection,
  type SqliteRow,
  type SqliteStatement,
  type SqliteValue,
  StatementCache,
} from "./driver.ts";
import { type FailureKind, isBusy, recordReason, storeError } from "./result-codes.ts";

/** Waits between tries grow to this; they are short, to catch the pauses of a busy writer. */
const BUSY_WAIT_MAX_MS = 10;
const MAX_STATEMENTS = 400;

/** The machine's time in milliseconds since 1970. */
const NOW_MS = "SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS nowMs";

const FOREIGN_TRIGGER =
  "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB 'repsync_*' LIMIT 1";

const PRAGMAS = {
  // Waiting inside SQLite would block the event loop; `#retried` waits instead.
  busy_timeout: 0,
  journal_mode: "WAL",
  synchronous: "FULL",
  // 64 MiB. Rows of a page lie scattered over the file; with the default of 2,000 KiB reading takes twice as long.
  cache_size: -65_536,
  // In pages. The commit that finds this many in the log copies them to the file, which takes some milliseconds.
  wal_autocheckpoint: 1_000,
};

/** A setting for one commit. */
type CommitSetting = readonly [pragma: keyof typeof PRAGMAS, value: string | number];

/** For pushes, which change the same pages again and again: copied back less often, they are a quarter faster. */
const LARGE_COMMIT: CommitSetting = ["wal_autocheckpoint", 4_000];

export interface SqliteOptions {
  /** How long work waits for another process that holds the file. */
  readonly busyDeadlineMs?: number;
  /**
   * Tells the time of leases and sessions, on which all processes on a file must agree, and durations. Without one SQLite
   * tells the time by the machine's clock, and nothing takes any time.
   */
  readonly clock?: Clock;
}

interface KeepOptions<T> {
  /** How long to wait for another process that holds the file, if less than other work does. */
  readonly deadlineMs?: number;
  /** Called with the result right after the commit, before any other work of this process. */
  readonly committed?: (result: T) => void;
}

/** The tables that a write may change: only what is remembered about these is forgotten. */
type ChangedTables = readonly string[] | "all";

const OPEN_PROBLEM =
  "The database cannot be opened: check that STORAGE_URL names a database file in a folder that can be created and written";

/**
 * Shared by the stores of one file. Work given to `read` and `write` is synchronous, so it never interleaves with other
 * work of this process; it may run again from its start when the file was busy.
 */
export class SqliteDatabase {
  readonly #connection: SqliteConnection;
  /** Null for `:memory:`. */
  readonly #file: DatabaseFile | null;
  readonly #busyDeadlineMs: number;
  readonly #clock: Clock | null;
  readonly #statements: StatementCache;
  readonly #changesOfTables = new Map<string, number>();
  #changesOfAll = 0;
  #isClosed = false;

  private constructor(
    connection: SqliteConnection,
    file: DatabaseFile | null,
    { busyDeadlineMs = REQUEST_DEADLINE_MS, clock }: SqliteOptions,
  ) {
    this.#connection = connection;
    this.#file = file;
    this.#statements = new StatementCache(connection, MAX_STATEMENTS);
    this.#busyDeadlineMs = busyDeadlineMs;
    this.#clock = clock ?? null;
  }

  /**
   * Opens a file, made with its folder when missing, or `:memory:`.
   * Throws `store_unavailable` when it cannot be opened or is no database.
   */
  static async open(
    openSqlite: OpenSqlite,
    path: string,
    options: SqliteOptions = {},
  ): Promise<SqliteDatabase> {
    const file = path === ":memory:" ? null : resolve(path);
    try {
      if (file !== null) await makeDatabaseFile(file);
      const connection = await openSqlite(file ?? path);
      const opened = file === null ? null : await DatabaseFile.find(file);
      return await new SqliteDatabase(connection, opened, options).#configured();
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError("store_unavailable", OPEN_PROBLEM, { cause });
    }
  }

  /** True when text after a NUL is lost in reading, unless the statement casts it to BLOB. */
  get cutsTextAtNul(): boolean {
    return this.#connection.cutsTextAtNul;
  }

  /** A prepared statement, valid until the work that asks for it ends or asks for two others. */
  statement(sql: string): SqliteStatement {
    return this.#statements.get(sql);
  }

  all(sql: string, values: readonly SqliteValue[] = []): SqliteRow[] {
    return this.statement(sql).all(values);
  }

  /** Runs a statement for its effect; returns how many rows an INSERT, UPDATE or DELETE changed. */
  run(sql: string, values: readonly SqliteValue[] = []): number {
    return this.statement(sql).run(values);
  }

  /**
   * Runs work on one snapshot of everything committed so far.
   * Throws `store_unavailable` for every failure of the database.
   */
  async read<T>(work: () => T, deadlineMs = this.#busyDeadlineMs): Promise<T> {
    return this.#retried("store_unavailable", deadlineMs, () => {
      this.run("BEGIN");
      return this.#finished(work);
    });
  }

  /**
   * Runs work as one durable commit, or none of it. Throws `commit_failed` when nothing was written, and
   * `store_unavailable` when another process kept the file busy for too long.
   */
  async write<T>(work: () => T, changedTables: ChangedTables = "all"): Promise<T> {
    return this.#committed("commit_failed", LARGE_COMMIT, () => {
      const changesBefore = this.#totalChanges();
      const result = work();
      if (this.#totalChanges() !== changesBefore) this.#noteChange(changedTables);
      return result;
    });
  }

  /** As `write`, for tables of repsync's own. Throws `store_unavailable` for every failure of the database. */
  async keep<T>(work: () => T, options: KeepOptions<T> = {}): Promise<T> {
    return this.#committed("store_unavailable", null, work, options);
  }

  /** The time that all processes on the file share, in milliseconds since 1970. */
  nowMs(): number {
    return this.#clock?.nowMs() ?? Number(this.all(NOW_MS)[0]?.["nowMs"]);
  }

  /** `Clock.monotonicMs`; without a clock it stands still. */
  monotonicMs(): number {
    return this.#clock?.monotonicMs() ?? 0;
  }

  /** Resolves when other work of this process has had its turn. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /**
   * Names the state of a table, within `read`: equal to an earlier name only when no process has committed to the table
   * in between.
   */
  versionOf(tableName: string): string {
    const [row] = this.all("PRAGMA data_version");
    const changes = this.#changesOfTables.get(tableName) ?? 0;
    return `${row?.["data_version"]}.${this.#changesOfAll}.${changes}`;
  }

  /**
   * Why a statement within `write` refused a record, if the transaction goes on without it; null when the whole write has
   * to fail.
   */
  recordReason(error: unknown): string | null {
    const reason = recordReason(this.#connection.resultCode(error));
    return this.#connection.isInTransaction ? reason : null;
  }

  /** Throws `store_unavailable` unless the file answers in time and is still the one that was opened. */
  async ping(timeoutMs: number): Promise<void> {
    await this.read(() => {
      this.#file?.check();
      this.all("SELECT count(*) FROM sqlite_schema");
    }, timeoutMs);
  }

  /** Finalizes every statement and closes the file. Idempotent; work that still waits for the file fails. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process is using the file; the last one to close it does this.
    }
    this.#statements.clear();
    this.#connection.close();
  }

  async #configured(): Promise<SqliteDatabase> {
    try {
      await this.#retried("store_unavailable", this.#busyDeadlineMs, () => {
        for (const [name, value] of Object.entries(PRAGMAS)) this.#set(name, value);
      });
      return this;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Ends the transaction that has begun: commits when work returns, rolls back when it or the commit fails. */
  #finished<T>(work: () => T): T {
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      if (this.#connection.isInTransaction) this.run("ROLLBACK");
      throw error;
    }
  }

  async #committed<T>(
    kind: FailureKind,
    setting: CommitSetting | null,
    work: () => T,
    { deadlineMs = this.#busyDeadlineMs, committed }: KeepOptions<T> = {},
  ): Promise<T> {
    const busyMs = Math.min(Math.max(deadlineMs, 0), this.#busyDeadlineMs);
    return this.#retried(kind, busyMs, () => {
      this.#file?.check();
      if (setting !== null) this.#set(...setting);
      try {
        this.run("BEGIN IMMEDIATE");
        const result = this.#finished(work);
        committed?.(result);
        return result;
      } finally {
        if (setting !== null) this.#set(setting[0], PRAGMAS[setting[0]]);
      }
    });
  }

  /** SQLite takes a setting while it prepares the statement, so a kept one would have no effect. */
  #set(pragma: string, value: string | number): void {
    const statement = this.#connection.prepare(`PRAGMA ${pragma} = ${value}`);
    statement.run([]);
    statement.finalize();
  }

  async #retried<T>(kind: FailureKind, deadlineMs: number, work: () => T): Promise<T> {
    let deadline: AbortSignal | null = null;
    for (let waitMs = 1; ; waitMs = Math.min(waitMs + 1, BUSY_WAIT_MAX_MS)) {
      if (this.#isClosed) throw new AppError("store_unavailable", "The database is closed");
      try {
        return work();
      } catch (error) {
        const code = this.#connection.resultCode(error);
        // By real time, as a busy event loop makes each wait longer than asked for.
        deadline ??= AbortSignal.timeout(deadlineMs);
        if (!isBusy(code) || deadline.aborted) throw storeError(kind, code, error);
      }
      await new Promise((wake) => setTimeout(wake, waitMs));
    }
  }

  #totalChanges(): number {
    return Number(this.all("SELECT total_changes() AS n")[0]?.["n"]);
  }

  #noteChange(tables: ChangedTables): void {
    // A trigger of another tool may have changed any table.
    if (tables === "all" || this.all(FOREIGN_TRIGGER).length > 0) this.#changesOfAll++;
    else for (const name of tables) this.#changesOfTables.set(name, this.#changesOf(name) + 1);
  }

  #changesOf(tableName: string): number {
    return this.#changesOfTables.get(tableName) ?? 0;
  }
}

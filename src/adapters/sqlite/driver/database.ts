// One SQLite file with its transactions; every store of this adapter works through it.
import { mkdir, open, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import type {
  OpenSqlite,
  SqliteConnection,
  SqliteRow,
  SqliteStatement,
  SqliteValue,
} from "./driver.ts";
import { FileIdentity } from "./file-identity.ts";
import { isBusy, isDiskFailure, LogInUse, recordReason, storeError } from "./result-codes.ts";
import { type OpenSyncedFile, WalSync } from "./wal-sync.ts";

/** How long work waits for another process unless the options say otherwise. */
const BUSY_DEADLINE_MS = 10_000;
/** Waits between tries grow to this; short, so that the pauses of a busy writer are not missed. */
const BUSY_WAIT_MAX_MS = 10;
/** Prepared statements kept; the longest unused one goes first. */
const MAX_STATEMENTS = 400;

/** The machine's time in milliseconds since 1970. */
const NOW_MS = "SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS nowMs";

/** What a connection is set to. */
const PRAGMAS = {
  // Waiting inside SQLite would block the event loop; `#retried` waits instead.
  busy_timeout: 0,
  journal_mode: "WAL",
  synchronous: "FULL",
  // In KiB. Rows of a page lie scattered over the file: with the default of 2,000 they read half as fast.
  cache_size: -65_536,
  // In pages. Who comes when so many are in the log copies them back, which takes some milliseconds.
  wal_autocheckpoint: 1_000,
};

/** What is set otherwise for one commit. */
type CommitSetting = readonly [pragma: keyof typeof PRAGMAS, value: string | number];

/** Pages of the file that pushes change again and again are copied back less often: a quarter faster. */
const LARGE_COMMIT: CommitSetting = ["wal_autocheckpoint", 4_000];
/** Whoever wants to know of the commit syncs it afterwards. */
const UNSYNCED_COMMIT: CommitSetting = ["synchronous", "NORMAL"];

/** What work that fails is refused with. */
type FailureKind = "store_unavailable" | "commit_failed";

/** What may be set per store. */
export interface SqliteOptions {
  /** How long work waits for another process that holds the file. */
  readonly busyDeadlineMs?: number;
  /**
   * Tells the time of leases and sessions; without one SQLite does, by the machine's clock. The same for all processes
   * on the file.
   */
  readonly clock?: Pick<Clock, "nowMs">;
  /** Opens the write-ahead log to sync it; without one the system does. */
  readonly openLog?: OpenSyncedFile;
}

/** Where a database is. */
interface DatabaseFile {
  readonly identity: FileIdentity;
  /** Where SQLite keeps the log: beside the file itself, not beside a link to it. */
  readonly realPath: string;
}

/** The tables a write may change, so that only what was remembered about them is forgotten. */
export type ChangedTables = readonly string[] | "all";

const OPEN_PROBLEM =
  "The database cannot be opened: see that STORAGE_URL names a database file, in a folder that can be made and written";

/**
 * Shared by the stores of one file. Work given to `read` and `write` is synchronous, so it never interleaves with other
 * work of this process; it may run again from its start when the file was busy.
 */
export class SqliteDatabase {
  readonly #connection: SqliteConnection;
  readonly #file: FileIdentity | null;
  readonly #busyDeadlineMs: number;
  readonly #clock: Pick<Clock, "nowMs"> | null;
  readonly #wal: WalSync | null;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #changesOfTables = new Map<string, number>();
  #changesOfAll = 0;
  /** True after a sync has failed: what the log holds may not be on the disk, whatever later syncs say. */
  #isLogInDoubt = false;
  #isClosed = false;

  private constructor(
    connection: SqliteConnection,
    file: DatabaseFile | null,
    { busyDeadlineMs = BUSY_DEADLINE_MS, clock, openLog }: SqliteOptions,
  ) {
    this.#connection = connection;
    this.#file = file?.identity ?? null;
    this.#busyDeadlineMs = busyDeadlineMs;
    this.#clock = clock ?? null;
    this.#wal = file === null ? null : new WalSync(file.realPath, openLog);
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
      if (file !== null) await makeFile(file);
      const connection = await openSqlite(file ?? path);
      const opened = file === null ? null : await findFile(file);
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

  /** A prepared statement, good until the work that asks for it ends or asks for another. */
  statement(sql: string): SqliteStatement {
    const statement = this.#statements.get(sql) ?? this.#connection.prepare(sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, statement);
    if (this.#statements.size > MAX_STATEMENTS) this.#dropOldestStatement();
    return statement;
  }

  /** Runs a statement and returns its rows. */
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
    return this.#retried({ kind: "store_unavailable", deadlineMs }, () => {
      this.run("BEGIN");
      return this.#finished(work);
    });
  }

  /**
   * Runs work as one durable commit, or none of it. Throws `commit_failed` when nothing was written, and
   * `store_unavailable` when another process kept the file busy for too long.
   */
  async write<T>(work: () => T, changedTables: ChangedTables = "all"): Promise<T> {
    return this.#committed({ kind: "commit_failed", setting: LARGE_COMMIT }, () => {
      const changesBefore = this.#totalChanges();
      const result = work();
      if (this.#totalChanges() !== changesBefore) this.#noteChange(changedTables);
      return result;
    });
  }

  /**
   * As `write`, for what is in no table of the registry. Throws `store_unavailable` for every failure of the database.
   */
  async keep<T>(work: () => T): Promise<T> {
    return this.#committed({ kind: "store_unavailable", setting: null }, work);
  }

  /**
   * As `keep`, with two differences: the wait for the disk leaves the event loop free, and is shared by all who wait at
   * the same time. `committed` is called with the result right after the commit, before any other work; when the disk
   * fails after that, this throws though others may see the commit.
   */
  async keepTogether<T>(work: () => T, committed: (result: T) => void): Promise<T> {
    const how = { kind: "store_unavailable", setting: UNSYNCED_COMMIT } as const;
    const result = await this.#committed(how, work, committed);
    try {
      await this.#wal?.sync();
    } catch (error) {
      this.#isLogInDoubt = true;
      throw error;
    }
    return result;
  }

  /** The time that all processes on the file share, in milliseconds since 1970. */
  nowMs(): number {
    return this.#clock?.nowMs() ?? Number(this.all(NOW_MS)[0]?.["nowMs"]);
  }

  /**
   * Names the state of a table, within `read`: equal to an earlier name only when nothing was committed to the table in
   * between, by this process or another.
   */
  versionOf(tableName: string): string {
    const [row] = this.all("PRAGMA data_version");
    const changes = this.#changesOfTables.get(tableName) ?? 0;
    return `${row?.["data_version"]}.${this.#changesOfAll}.${changes}`;
  }

  /**
   * Why a statement within `write` refused one record, when the transaction goes on without it; null when the whole
   * write has to fail.
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
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    this.#connection.close();
    void this.#wal?.close();
  }

  async #configured(): Promise<SqliteDatabase> {
    try {
      await this.#retried({ kind: "store_unavailable", deadlineMs: this.#busyDeadlineMs }, () => {
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
    { kind, setting }: { kind: FailureKind; setting: CommitSetting | null },
    work: () => T,
    committed: (result: T) => void = () => {},
  ): Promise<T> {
    return this.#retried({ kind, deadlineMs: this.#busyDeadlineMs }, () => {
      this.#file?.check();
      if (this.#isLogInDoubt) this.#emptyLog();
      if (setting !== null) this.#set(...setting);
      try {
        this.run("BEGIN IMMEDIATE");
        const result = this.#finished(work);
        committed(result);
        return result;
      } catch (error) {
        if (isDiskFailure(this.#connection.resultCode(error))) this.#isLogInDoubt = true;
        throw error;
      } finally {
        if (setting !== null) this.#set(setting[0], PRAGMAS[setting[0]]);
      }
    });
  }

  /**
   * Writes everything in the log to the database file, syncs that, and lets the log begin anew. Nothing may be
   * acknowledged before: after a sync that failed the system takes pages for written that are not, and a commit behind
   * them would be lost with them.
   */
  #emptyLog(): void {
    const [row] = this.all("PRAGMA wal_checkpoint(TRUNCATE)");
    if (row?.["busy"] !== 0) throw new LogInUse();
    this.#isLogInDoubt = false;
  }

  /** SQLite takes a setting while it prepares the statement, so a kept one would have no effect. */
  #set(pragma: string, value: string | number): void {
    const statement = this.#connection.prepare(`PRAGMA ${pragma} = ${value}`);
    statement.run([]);
    statement.finalize();
  }

  async #retried<T>(
    { kind, deadlineMs }: { kind: FailureKind; deadlineMs: number },
    work: () => T,
  ): Promise<T> {
    let deadline: AbortSignal | null = null;
    for (let waitMs = 1; ; waitMs = Math.min(waitMs + 1, BUSY_WAIT_MAX_MS)) {
      if (this.#isClosed) throw new AppError("store_unavailable", "The database is closed");
      try {
        return work();
      } catch (error) {
        const code =
          error instanceof LogInUse ? error.resultCode : this.#connection.resultCode(error);
        // By the time that passes: a busy event loop makes every wait longer than it was to be.
        deadline ??= AbortSignal.timeout(deadlineMs);
        if (!isBusy(code) || deadline.aborted) throw storeError(kind, code, error);
      }
      await new Promise((wake) => setTimeout(wake, waitMs));
    }
  }

  #dropOldestStatement(): void {
    for (const [sql, statement] of this.#statements) {
      this.#statements.delete(sql);
      statement.finalize();
      return;
    }
  }

  #totalChanges(): number {
    return Number(this.all("SELECT total_changes() AS n")[0]?.["n"]);
  }

  #noteChange(tables: ChangedTables): void {
    if (tables === "all") this.#changesOfAll++;
    else for (const name of tables) this.#changesOfTables.set(name, this.#changesOf(name) + 1);
  }

  #changesOf(tableName: string): number {
    return this.#changesOfTables.get(tableName) ?? 0;
  }
}

/**
 * Makes an empty file unless there is one. Others may not read it: it will hold secrets. One that exists is not opened,
 * as closing it would drop the locks that this process may have on it.
 */
async function makeFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

async function findFile(path: string): Promise<DatabaseFile> {
  const found = await realpath(path);
  return { identity: new FileIdentity(path, found), realPath: found };
}

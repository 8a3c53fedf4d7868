// The interface of SQLite drivers, Bun's and that of Node and Deno; connections with prepared statements and settings; states of tables.
import { LRUCache } from "lru-cache";

/** A bound or stored value. The adapter translates booleans, big integers and dates. */
export type SqliteValue = null | number | string | Uint8Array;

/** By column name; the caller may change it. */
export type SqliteRow = Record<string, SqliteValue>;

export interface SqliteStatement {
  /** The statement must cast an INTEGER beyond ±(2^53-1) to TEXT. */
  all(values: readonly SqliteValue[]): SqliteRow[];

  /** Gives one row at a time. Must be read to the end, or left by `break`, before the statement is used again. */
  iterate(values: readonly SqliteValue[]): Iterable<SqliteRow>;

  /** Returns the number of rows that an INSERT, UPDATE or DELETE changed. */
  run(values: readonly SqliteValue[]): number;

  /** Frees the statement, which must not be used afterwards. */
  finalize(): void;
}

export interface AsideWork {
  /** Resolves to the thread's answer; rejects when the thread dies. */
  readonly ended: Promise<unknown>;
  stop(): void;
}

/** Every method blocks and throws the driver's errors, which `resultCode` reads. */
export interface SqliteConnection {
  /** True when reading loses text after a NUL: the statement must cast such text to BLOB. */
  readonly cutsTextAtNul: boolean;

  /** False again once SQLite itself has rolled back. */
  readonly isInTransaction: boolean;

  prepare(sql: string): SqliteStatement;

  /** Runs a module of this adapter in a thread, which answers its one message; absent without threads. */
  runAside?(module: URL, job: unknown): AsideWork;

  /** Every statement must be finalized before. */
  close(): void;

  /** SQLite's extended result code; null for errors of others. */
  resultCode(error: unknown): number | null;
}

/** Opens or makes a file, or `:memory:`; with `isReadOnly` an existing file, without a change. */
export type OpenSqlite = (path: string, isReadOnly?: boolean) => Promise<SqliteConnection>;

const MAX_STATEMENTS = 400;

/** A connection with its prepared statements by SQL; the least recently used one is finalized first. */
export class OpenConnection {
  readonly driver: SqliteConnection;
  readonly #statements = new LRUCache<string, SqliteStatement>({
    max: MAX_STATEMENTS,
    memoMethod: (sql) => this.driver.prepare(sql),
    dispose: (statement) => statement.finalize(),
  });

  constructor(driver: SqliteConnection) {
    this.driver = driver;
  }

  statement(sql: string): SqliteStatement {
    return this.#statements.memo(sql);
  }

  all(sql: string, values: readonly SqliteValue[] = []): SqliteRow[] {
    return this.statement(sql).all(values);
  }

  run(sql: string, values: readonly SqliteValue[] = []): number {
    return this.statement(sql).run(values);
  }

  /** Prepared anew each time: SQLite applies a setting while it prepares the statement. */
  set(pragmas: Readonly<Record<string, string | number>>): void {
    for (const [name, value] of Object.entries(pragmas)) {
      const statement = this.driver.prepare(`PRAGMA ${name} = ${value}`);
      statement.run([]);
      statement.finalize();
    }
  }

  close(): void {
    this.#statements.clear();
    this.driver.close();
  }
}

// With `synchronous=FULL` a commit that cannot be synced fails. One sync for several commits off the event loop was tried: it was 5 to
// 13 % faster, and needed 150 lines and a proof of every interleaving with checkpoints.

/** Pages in the log at which a commit copies them to the file, in some milliseconds. */
export const CHECKPOINT_PAGES = 1_000;

export const PRAGMAS = {
  // Waiting inside SQLite would block the event loop; `whileBusy` waits instead.
  busy_timeout: 0,
  journal_mode: "WAL",
  synchronous: "FULL",
  // 40 MiB: the rows of a page lie scattered, and with SQLite's 2,000 KiB reading takes twice as long.
  cache_size: -40_960,
  wal_autocheckpoint: CHECKPOINT_PAGES,
};

/** For an inspection, which writes nothing, not even the journal mode. D-11.4. */
export const READ_ONLY_PRAGMAS = { busy_timeout: 0, query_only: 1 };

export const READER_PRAGMAS = { busy_timeout: 0, query_only: 1, cache_size: -4_096 };

const FOREIGN_TRIGGER =
  "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB 'repsync_*' LIMIT 1";

/** The states of tables: counts the changes of this process, and sees those of others. */
export class TableStates {
  readonly #writer: OpenConnection;
  readonly #changes = new Map<string, number>();
  #changesOfAll = 0;

  constructor(writer: OpenConnection) {
    this.#writer = writer;
  }

  /** The state of a table, within a read. The same twice means that no process has committed to the table in between. */
  of(tableName: string): string {
    // While the writing connection is in a write, no other process commits.
    const [row] = this.#writer.all("PRAGMA data_version");
    return `${row?.["data_version"]}.${this.#changesOfAll}.${this.#changes.get(tableName) ?? 0}`;
  }

  /** Notes changes of this process. To be called right before their commit. */
  note(tables: readonly string[]): void {
    // A trigger of another tool may have changed any table.
    if (this.#writer.all(FOREIGN_TRIGGER).length > 0) this.#changesOfAll++;
    else for (const name of tables) this.#changes.set(name, (this.#changes.get(name) ?? 0) + 1);
  }
}

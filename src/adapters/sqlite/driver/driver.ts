// The interface of SQLite drivers: Bun's, and that of Node and Deno.

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

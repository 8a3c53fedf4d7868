// The interface of SQLite drivers, so that the adapter runs on that of Bun and that of Node and Deno.

/** A value that a statement takes and a row holds. The adapter translates booleans, big integers and dates. */
export type SqliteValue = null | number | string | Uint8Array;

/** A row by column name, free for the caller to change. */
export type SqliteRow = Record<string, SqliteValue>;

/** A prepared statement of one connection. */
export interface SqliteStatement {
  /** Every row of the result. An INTEGER beyond ±(2^53-1) must be cast to TEXT by the statement itself. */
  all(values: readonly SqliteValue[]): SqliteRow[];

  /** As `all`, a row at a time. To be read to its end, or left by `break`, before another use of the statement. */
  iterate(values: readonly SqliteValue[]): Iterable<SqliteRow>;

  /** Runs it for its effect; returns how many rows an INSERT, UPDATE or DELETE changed. */
  run(values: readonly SqliteValue[]): number;

  /** Frees it; it must not be used afterwards. */
  finalize(): void;
}

/** Work of another thread. */
export interface AsideWork {
  /** Resolves to its answer; rejects when the thread dies. */
  readonly ended: Promise<unknown>;
  stop(): void;
}

/** An open database. Every method blocks and throws the driver's own errors; `resultCode` reads them. */
export interface SqliteConnection {
  /** True when text after a NUL is lost in reading: such text must be cast to BLOB by the statement. */
  readonly cutsTextAtNul: boolean;

  /** False again when SQLite itself rolled the transaction back. */
  readonly isInTransaction: boolean;

  prepare(sql: string): SqliteStatement;

  /** Runs a module of this adapter in a thread of its own, which answers its one message; absent where the driver has none. */
  runAside?(module: URL, job: unknown): AsideWork;

  /** Closes the file. Every statement is finalized before. */
  close(): void;

  /** The extended result code of SQLite in an error of this driver; null for any other error. */
  resultCode(error: unknown): number | null;
}

/** Opens or makes a database file, or `:memory:`; with `isReadOnly` a file that is there, without a change to it. */
export type OpenSqlite = (path: string, isReadOnly?: boolean) => Promise<SqliteConnection>;

// The seam between the adapter and the two SQLite drivers it runs on, so that the rest knows neither.

/** What a statement takes and a row holds. Booleans, big integers and dates are the adapter's to translate. */
export type SqliteValue = null | number | string | Uint8Array;

/** A row by column name, free for the caller to change. */
export type SqliteRow = Record<string, SqliteValue>;

/** A prepared statement of one connection. */
export interface SqliteStatement {
  /** Every row of the result. An INTEGER beyond ±(2^53-1) must be cast to TEXT by the statement itself. */
  all(values: readonly SqliteValue[]): SqliteRow[];

  /** Runs it for its effect; returns how many rows an INSERT, UPDATE or DELETE changed. */
  run(values: readonly SqliteValue[]): number;

  /** Frees it; it may not be used any more. */
  finalize(): void;
}

/** An open database. Every method blocks and throws the driver's own errors; `resultCode` reads them. */
export interface SqliteConnection {
  /** True when text after a NUL is lost in reading: such text must be cast to BLOB by the statement. */
  readonly cutsTextAtNul: boolean;

  /** False again when SQLite itself rolled the transaction back. */
  readonly isInTransaction: boolean;

  prepare(sql: string): SqliteStatement;

  /** Closes the file. Every statement is finalized before. */
  close(): void;

  /** The primary result code of SQLite (5 is SQLITE_BUSY) in an error of this driver; null for any other error. */
  resultCode(error: unknown): number | null;
}

/** Opens or makes a database file, or `:memory:`. */
export type OpenSqlite = (path: string) => Promise<SqliteConnection>;

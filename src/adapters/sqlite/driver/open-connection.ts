import { LRUCache } from "lru-cache";
import type { SqliteConnection, SqliteRow, SqliteStatement, SqliteValue } from "./driver.ts";

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
  // Waiting inside SQLite would block the event loop; `#retried` waits instead.
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

import { LRUCache } from "lru-cache";
import type { SqliteConnection, SqliteRow, SqliteStatement, SqliteValue } from "./driver.ts";

const MAX_STATEMENTS = 400;

/** A connection to a file, with its prepared statements by their SQL; the longest unused one goes first. */
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

  /** SQLite takes a setting while it prepares the statement, so a kept one would have no effect. */
  set(pragmas: Readonly<Record<string, string | number>>): void {
    for (const [name, value] of Object.entries(pragmas)) {
      const statement = this.driver.prepare(`PRAGMA ${name} = ${value}`);
      statement.run([]);
      statement.finalize();
    }
  }

  /** Finalizes every statement. */
  close(): void {
    this.#statements.clear();
    this.driver.close();
  }
}

// The settings of connections to a file. `synchronous=FULL`: SQLite syncs every commit itself, so a commit that cannot be synced
// fails. A sync for several commits off the event loop was 5 to 13 % faster, and needed 150 lines and a proof of every
// interleaving with checkpoints.

/** Pages in the log at which a commit copies them to the file, which takes some milliseconds. */
export const CHECKPOINT_PAGES = 1_000;

/** Settings of the connection that writes. */
export const PRAGMAS = {
  // Waiting inside SQLite would block the event loop; `#retried` waits instead.
  busy_timeout: 0,
  journal_mode: "WAL",
  synchronous: "FULL",
  // 40 MiB. Rows of a page lie scattered over the file; with the default of 2,000 KiB reading takes twice as long.
  cache_size: -40_960,
  wal_autocheckpoint: CHECKPOINT_PAGES,
};

/** Settings of a connection that only looks: nothing is written, its journal mode included. D-11.4. */
export const LOOKING_PRAGMAS = { busy_timeout: 0, query_only: 1 };

/** Settings of the connection that reads while the other one holds a write that is not committed. */
export const READER_PRAGMAS = { busy_timeout: 0, query_only: 1, cache_size: -4_096 };

import { type SqliteConnection, StatementCache } from "./driver.ts";

const MAX_STATEMENTS = 400;

/** One of the connections to a file, with its prepared statements. */
export class OpenConnection {
  readonly driver: SqliteConnection;
  readonly statements: StatementCache;

  constructor(driver: SqliteConnection) {
    this.driver = driver;
    this.statements = new StatementCache(driver, MAX_STATEMENTS);
  }

  /** SQLite takes a setting while it prepares the statement, so a kept one would have no effect. */
  set(pragma: string, value: string | number): void {
    const statement = this.driver.prepare(`PRAGMA ${pragma} = ${value}`);
    statement.run([]);
    statement.finalize();
  }

  /** Finalizes every statement. */
  close(): void {
    this.statements.clear();
    this.driver.close();
  }
}

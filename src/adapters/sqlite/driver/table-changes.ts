import type { SqliteRow } from "./driver.ts";

const FOREIGN_TRIGGER =
  "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB 'repsync_*' LIMIT 1";

/** Counts the changes of this process, by table. */
export class TableChanges {
  readonly #database: { all(sql: string): SqliteRow[] };
  readonly #ofTables = new Map<string, number>();
  #ofAll = 0;

  constructor(database: { all(sql: string): SqliteRow[] }) {
    this.#database = database;
  }

  /** Differs after each change of this process to the table. */
  stateOf(tableName: string): string {
    return `${this.#ofAll}.${this.#ofTables.get(tableName) ?? 0}`;
  }

  /** To be called right before the commit. */
  note(tables: readonly string[]): void {
    // A trigger of another tool may have changed any table.
    if (this.#database.all(FOREIGN_TRIGGER).length > 0) this.#ofAll++;
    else for (const name of tables) this.#ofTables.set(name, (this.#ofTables.get(name) ?? 0) + 1);
  }
}

import type { SqliteRow } from "./driver.ts";

/** The tables that a write may change: only what is remembered about these is forgotten. */
export type ChangedTables = readonly string[] | "all";

const FOREIGN_TRIGGER =
  "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB 'repsync_*' LIMIT 1";

/** Counts the changes that this process makes, by table. */
export class TableChanges {
  readonly #database: { all(sql: string): SqliteRow[] };
  readonly #ofTables = new Map<string, number>();
  #ofAll = 0;

  constructor(database: { all(sql: string): SqliteRow[] }) {
    this.#database = database;
  }

  /** Names the state of a table as far as this process changes it. */
  stateOf(tableName: string): string {
    return `${this.#ofAll}.${this.#ofTables.get(tableName) ?? 0}`;
  }

  /** The work, with what it changes noted. */
  noting<T>(work: () => T, tables: ChangedTables): T {
    const changesBefore = this.#total();
    const result = work();
    if (this.#total() !== changesBefore) this.note(tables);
    return result;
  }

  /** Notes changes right before their commit. */
  note(tables: ChangedTables): void {
    // A trigger of another tool may have changed any table.
    if (tables === "all" || this.#database.all(FOREIGN_TRIGGER).length > 0) this.#ofAll++;
    else for (const name of tables) this.#ofTables.set(name, (this.#ofTables.get(name) ?? 0) + 1);
  }

  #total(): number {
    return Number(this.#database.all("SELECT total_changes() AS n")[0]?.["n"]);
  }
}

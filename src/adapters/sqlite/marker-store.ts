import type { MarkerStore } from "../../ports/marker-store.ts";
import type { SqliteDatabase } from "./database.ts";

/** Markers in a table of their own. */
export class SqliteMarkerStore implements MarkerStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async readAll(): Promise<ReadonlyMap<string, string>> {
    const sql = "SELECT name, value FROM repsync_markers WHERE value <> '' ORDER BY name";
    const rows = await this.#database.read(() => this.#database.all(sql));
    return new Map(rows.map((row) => [String(row["name"]), String(row["value"])]));
  }

  async writeAll(markers: ReadonlyMap<string, string>): Promise<void> {
    const sql =
      "INSERT INTO repsync_markers (name, value) VALUES (?, ?)" +
      " ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    await this.#database.write(() => {
      for (const [name, value] of markers) this.#database.run(sql, [name, value]);
    }, []);
  }
}

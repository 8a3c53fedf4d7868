import type { MarkerStore } from "../../../ports/runs/marker-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";

export const MARKER_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_markers (
    name TEXT PRIMARY KEY, value TEXT NOT NULL
  ) WITHOUT ROWID`,
];

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
    await this.#database.write(() => setMarkers(this.#database, markers), []);
  }
}

/** Sets markers within the caller's transaction. */
export function setMarkers(database: SqliteDatabase, markers: ReadonlyMap<string, string>): void {
  const sql =
    "INSERT INTO repsync_markers (name, value) VALUES (?, ?)" +
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";
  for (const [name, value] of markers) database.run(sql, [name, value]);
}

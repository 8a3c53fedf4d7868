import type { AgreedBlock, AgreedBlocks } from "../../../ports/runs/agreed-rows.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/**
 * `place` is the order of a table's blocks; those that replace the oldest get places before all others, also below 0. The
 * rowid is random, so that none is used again.
 */
export const AGREED_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_agreed (
    table_name TEXT NOT NULL, place INTEGER NOT NULL, block BLOB NOT NULL
  )`,
  "CREATE UNIQUE INDEX IF NOT EXISTS repsync_agreed_places ON repsync_agreed (table_name, place)",
];

const READ = "SELECT rowid, block FROM repsync_agreed WHERE table_name = ? ORDER BY place";

const ADD = `INSERT INTO repsync_agreed (rowid, table_name, place, block)
  VALUES (random() >> 11, ?1, (SELECT coalesce(max(place) + 1, 0) FROM repsync_agreed WHERE table_name = ?1), ?2)`;

const ADD_FIRST = `INSERT INTO repsync_agreed (rowid, table_name, place, block)
  VALUES (random() >> 11, ?1, (SELECT coalesce(min(place) - 1, 0) FROM repsync_agreed WHERE table_name = ?1), ?2)`;

const COUNT = `SELECT count(*) AS count FROM repsync_agreed
  WHERE table_name = ? AND rowid IN (SELECT value FROM json_each(?))`;

const REMOVE = "DELETE FROM repsync_agreed WHERE rowid IN (SELECT value FROM json_each(?))";

const CLEAR = "DELETE FROM repsync_agreed WHERE table_name = ?";

export class SqliteAgreedBlocks implements AgreedBlocks {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async read(tableName: string): Promise<readonly AgreedBlock[]> {
    const rows = await this.#database.read(() => this.#database.all(READ, [tableName]));
    return rows.map(({ rowid, block }) => ({ id: String(rowid), bytes: block as Uint8Array }));
  }

  async replace(
    tableName: string,
    ids: readonly string[],
    blocks: readonly Uint8Array[],
  ): Promise<void> {
    const database = this.#database;
    const rowids = JSON.stringify(ids.map(Number));
    await database.keep(() => {
      const [found] = database.all(COUNT, [tableName, rowids]);
      if (found?.["count"] !== ids.length) return;
      database.run(REMOVE, [rowids]);
      for (const block of blocks.toReversed()) database.run(ADD_FIRST, [tableName, block]);
    });
  }

  async clear(tableNames: readonly string[]): Promise<void> {
    if (tableNames.length === 0) return;
    await this.#database.keep(() => {
      for (const name of tableNames) clearAgreedBlocks(this.#database, name);
    });
  }
}

/** Removes the blocks of a table within the caller's transaction. */
export function clearAgreedBlocks(database: SqliteDatabase, tableName: string): void {
  database.run(CLEAR, [tableName]);
}

/** Adds a block within the caller's transaction. */
export function addAgreedBlock(
  database: SqliteDatabase,
  tableName: string,
  block: Uint8Array,
): void {
  database.run(ADD, [tableName, block]);
}

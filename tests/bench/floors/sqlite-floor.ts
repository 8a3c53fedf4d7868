// The floor on SQLite: started on a file that the service has made, so the schema is the same.
import { Database } from "bun:sqlite";
import type { BenchRow } from "../bench-rows.ts";
import { COLUMN_NAMES, serveFloor, TABLE_NAME } from "./serve-floor.ts";

const database = new Database(process.env.FLOOR_TARGET);
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");

const unstamped = COLUMN_NAMES.slice(0, -1);
const columns = COLUMN_NAMES.join(", ");
const changed = COLUMN_NAMES.slice(2).map((name) => `${name} = excluded.${name}`);
const marks = COLUMN_NAMES.map(() => "?").join(", ");
const order = "ORDER BY repsync_order, shop, sku LIMIT ?";
const first = database.prepare<object, [number]>(`SELECT ${columns} FROM ${TABLE_NAME} ${order}`);
const following = database.prepare<object, [string, number]>(
  `SELECT ${columns} FROM ${TABLE_NAME} WHERE repsync_order > ? ${order}`,
);
const upsert = database.prepare(
  `INSERT INTO ${TABLE_NAME} (${columns}) VALUES (${marks})
   ON CONFLICT (shop, sku) DO UPDATE SET ${changed.join(", ")}`,
);

serveFloor({
  readPage: (after, limit) =>
    after === null ? first.all(limit) : following.all(after.slice(0, -1), limit),
  write: database.transaction((rows: readonly BenchRow[]) => {
    for (const row of rows) {
      const values = unstamped.map((name) => row[name]);
      upsert.run(...values, row.updated_at.slice(0, -1));
    }
  }).immediate,
});

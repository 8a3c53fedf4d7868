// The floor on SQLite: started on a file that the service has made, so the schema is the same.
import { Database } from "bun:sqlite";
import { type BenchRow, COLUMN_NAMES, TABLE_NAME } from "../bench-rows.ts";
import { serveFloor } from "./serve-floor.ts";

const database = new Database(process.env.FLOOR_TARGET);
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");

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
      upsert.run(
        row.shop,
        row.sku,
        row.title,
        row.city,
        row.price,
        row.views,
        row.rating,
        row.active,
        row.listed_on,
        row.updated_at.slice(0, -1),
      );
    }
  }).immediate,
});

// The floor on PostgreSQL: started on a database that the service has made, so indexes are the same; its triggers rest.
import { SQL } from "bun";
import { quoted, textList } from "../../../src/adapters/postgres/driver/sql.ts";
import { Layout } from "../../../src/adapters/postgres/tables/layout.ts";
import { buildTable } from "../../../src/domain/sync/table/table.ts";
import type { BenchRow } from "../bench-rows.ts";
import { COLUMN_NAMES, serveFloor, TABLE_ENTRY, TABLE_NAME } from "./serve-floor.ts";

const database = new SQL({ url: process.env.FLOOR_TARGET ?? "", max: 1 });
const layout = new Layout(buildTable(TABLE_NAME, TABLE_ENTRY), "public");
const { columns, keyColumns, updateColumns } = layout.table;
const names = columns.map(({ name }) => quoted(name)).join(", ");
// Bun makes dates of these, without microseconds.
const shown = columns.map(({ name, type }) =>
  type.startsWith("date") ? `t.${name}::text` : `t.${name}`,
);
const order = layout.order().map(({ text }) => text);
const page = `SELECT ${shown.join(", ")} FROM ${layout.name} AS t`;
const ordered = `ORDER BY ${order.join(", ")} LIMIT $1::int8`;
const first = `${page} ${ordered}`;
const following = `${page} WHERE ${order[0]} > $2::timestamptz ${ordered}`;
const changed = updateColumns.map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`);
const upsert = `INSERT INTO ${layout.name} (${names}) SELECT * FROM unnest(${layout.casts(columns).join(", ")})
  ON CONFLICT (${keyColumns.map(({ name }) => quoted(name)).join(", ")}) DO UPDATE SET ${changed.join(", ")}`;

await database.unsafe(`ALTER TABLE ${layout.name} DISABLE TRIGGER USER`);
serveFloor({
  readPage: (after, limit) =>
    after === null ? database.unsafe(first, [limit]) : database.unsafe(following, [limit, after]),
  write: async (rows: readonly BenchRow[]) => {
    const lists = COLUMN_NAMES.map((name) => textList(rows.map((row) => String(row[name]))));
    await database.begin((tx) => tx.unsafe(upsert, lists));
  },
});

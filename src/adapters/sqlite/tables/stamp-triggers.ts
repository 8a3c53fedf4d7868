// Stamps rows of a stamped table when other programs leave their time alone: triggers set the time in the same statement, as
// `stampFate` decides. D-14.2. A row in `repsync_moment` silences them while this service writes their table. A stamp differs from the
// time before, so no trigger fires on it again, also with `recursive_triggers`; `changes()` does not count it. REPLACE removes the old
// row first. A trigger before that notes the time of the row, and that of its tombstone, which another trigger may remove.
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { OwnTriggers } from "../driver/schema.ts";
import { ORDER_COLUMN, rowOrder } from "./order-column.ts";
import { deletionTimeSql, TombstoneNames, TRIGGER_NOW } from "./tombstone-sql.ts";

/** Times that a statement finds of a key before it writes the row; those of earlier statements are stale. */
const PRESENT = `CREATE TABLE IF NOT EXISTS repsync_present (
    table_name TEXT NOT NULL, ${ORDER_COLUMN} TEXT NOT NULL
  )`;

/** Makes or drops the triggers of a table, within the write that prepares it. */
export function prepareStamps(database: SqliteDatabase, table: Table): void {
  const triggers = new OwnTriggers(database, table.name, "stamp");
  if (!table.stamped) {
    triggers.drop();
    return;
  }
  database.run(PRESENT);
  triggers.set(wantedTriggers(database, table, triggers));
}

function wantedTriggers(
  database: SqliteDatabase,
  table: Table,
  own: OwnTriggers,
): ReadonlyMap<string, string> {
  const names = new TombstoneNames(table);
  const name = `"${table.name}"`;
  const time = `"${table.timestampColumn}"`;
  const orderOf = (row: string) =>
    `SELECT ${rowOrder(table, row, database.foreignTables)} AS ${ORDER_COLUMN}`;
  // A process of an earlier version names no table: it silenced the triggers of all.
  const isOwn = `SELECT 1 FROM repsync_moment WHERE ifnull(table_name, '${table.name}') = '${table.name}'`;
  const isOthers = `NOT EXISTS (${isOwn})`;
  const isNotSet = `NEW.${time} IS NULL`;
  const isLeftAlone = `(${isNotSet} OR NEW.${time} IS OLD.${time})`;
  const isRekeyed = `(${names.keyOf("OLD")}) IS NOT (${names.keyOf("NEW")})`;
  const buried = table.deletes
    ? [
        `SELECT kept.repsync_deleted_at AS ${ORDER_COLUMN} FROM ${names.list} AS kept WHERE ${names.sameKey("kept", "NEW")}`,
      ]
    : [];
  const present = `${orderOf("stored")} FROM ${name} AS stored WHERE ${names.sameKey("stored", "NEW")}`;
  const forget = `DELETE FROM repsync_present WHERE table_name = '${table.name}'`;
  const note = [
    forget,
    `INSERT INTO repsync_present SELECT '${table.name}', seen.${ORDER_COLUMN} FROM (${[present, ...buried].join(" UNION ALL ")}) AS seen`,
  ];
  const noted = `SELECT ${ORDER_COLUMN} FROM repsync_present WHERE table_name = '${table.name}'`;
  const stamp = (sources: readonly string[]) => [
    `UPDATE ${name} SET ${time} = ${stampSql(sources)} WHERE ${names.sameKey(name, "NEW")}`,
    forget,
  ];
  // A trigger of the application may write another row between the note and the stamp, which forgets the note.
  const updated = [orderOf("OLD"), `${noted} AND ${isRekeyed}`, ...buried];
  return new Map([
    own.make("meet.insert", `BEFORE INSERT ON ${name} WHEN ${isNotSet} AND ${isOthers}`, note),
    own.make(
      "meet.update",
      `BEFORE UPDATE OF ${names.keyColumns.join(", ")} ON ${name} WHEN ${isRekeyed} AND ${isLeftAlone} AND ${isOthers}`,
      note,
    ),
    own.make(
      "insert",
      `AFTER INSERT ON ${name} WHEN ${isNotSet} AND ${isOthers}`,
      stamp([noted, ...buried]),
    ),
    own.make(
      "update",
      `AFTER UPDATE ON ${name} WHEN ${isLeftAlone} AND ${isOthers}`,
      stamp(updated),
    ),
  ]);
}

/** Now, or right after the latest of the times that are not too far ahead, in the form of the time column. */
function stampSql(sources: readonly string[]): string {
  const latest = `SELECT coalesce(max(${deletionTimeSql("seen")}), ${TRIGGER_NOW}) AS at FROM (${sources.join(" UNION ALL ")}) AS seen`;
  const digits = "CASE WHEN at GLOB '*.000000' THEN 19 WHEN at GLOB '*000' THEN 23 ELSE 26 END";
  return `(SELECT substr(at, 1, ${digits}) FROM (${latest}))`;
}

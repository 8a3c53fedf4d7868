// Triggers record the deletes of tables that have opted in, in the commit of any program. D-7.6. A changed key deletes the old key.
// `REPLACE` fires no delete triggers unless `recursive_triggers` is on: before a write a trigger notes the rows in its way, and a
// note whose row is gone afterwards becomes a tombstone. Rare work is in triggers on a view and on the notes, as the body of a
// trigger costs time for each row. Places are `AUTOINCREMENT` numbers in the order of commits; a cursor has the list's random id
// besides, so that a cursor of another file is refused.
import { formatMs } from "../../../domain/shared/time.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import {
  OwnTriggers,
  ofColumns,
  quotedName,
  triggerName,
  type UniqueKey,
  uniqueKeys,
} from "../driver/schema.ts";
import { declaredType } from "./column-values.ts";
import { ORDER_COLUMN, rowOrder } from "./order-column.ts";
import {
  deletionTimeSql,
  IS_CAUSED,
  outlivesSql,
  recordedTimeSql,
  TombstoneNames,
  TRIGGER_NOW,
} from "./tombstone-sql.ts";

const FIND = "SELECT key FROM repsync_deletes WHERE table_name = ?";

const BEGIN = `INSERT OR REPLACE INTO repsync_deletes (table_name, list_id, key, earliest_available)
  VALUES (?, lower(hex(randomblob(8))), ?, ?)`;

/** `repsync_is_own` of a tombstone that a trigger lists. */
const IS_OWN = `1 + ${IS_CAUSED}`;

export const SET_EARLIEST =
  "UPDATE repsync_deletes SET earliest_available = ? WHERE table_name = ?";

/**
 * Makes or drops the triggers of a table, within the write that prepares it. A missing or different trigger may have missed
 * deletes: the record is then complete from now on.
 */
export function prepareDeletes(database: SqliteDatabase, table: Table): void {
  const triggers = new OwnTriggers(database, table.name, "delete");
  if (!table.deletes) {
    triggers.drop();
    return;
  }
  const now = formatMs(database.nowMs());
  const names = new TombstoneNames(table);
  const key = keyDefinition(table);
  if (database.all(FIND, [table.name])[0]?.["key"] !== key) {
    for (const sql of [...names.drop(), ...names.create()]) database.run(sql);
    database.run(BEGIN, [table.name, key, now]);
  }
  const otherKeys = otherUniqueKeys(database, table);
  const wanted = wantedTriggers(database, names, triggers, otherKeys);
  const isComplete = triggers.set(wanted, inEarlierWords(wanted, names, otherKeys));
  if (!isComplete) database.run(SET_EARLIEST, [now, table.name]);
}

export function deleteTriggerName(table: Table): string {
  return triggerName(table.name, "delete", "delete");
}

/** The clause of a table until it is renamed: SQLite then writes its name in other quotes, and when it gets it back as well. */
export function onUnrenamed({ name }: Table): string {
  return `ON [${name}]`;
}

/**
 * True while the table of a trigger has its name: an application may rename it, and put another in its place. The search begins at
 * the end, where the triggers are, as it is made for each row. SQLite before 3.33 knows no `sqlite_schema`.
 */
function hasName(table: Table): string {
  const found = `SELECT tbl_name FROM sqlite_master WHERE name = '${deleteTriggerName(table)}'`;
  return `(${found} ORDER BY rowid DESC LIMIT 1) = '${table.name}'`;
}

function keyDefinition({ keyColumns }: Table): string {
  return keyColumns.map((column) => `${column.name} ${declaredType(column)}`).join(", ");
}

function wantedTriggers(
  database: SqliteDatabase,
  names: TombstoneNames,
  own: OwnTriggers,
  otherKeys: readonly UniqueKey[],
): ReadonlyMap<string, string> {
  const { keyColumns, table } = names;
  const on = `ON ${quotedName(table.name)}`;
  const andNamed = ` AND ${hasName(table)}`;
  const ofKey = `OF ${keyColumns.join(", ")}`;
  const ofTime = quotedName(table.timestampColumn ?? "");
  const isRekeyed = `(${names.keyOf("OLD")}) IS NOT (${names.keyOf("NEW")})`;
  const hadKey = hasKey(names, "OLD");
  const orderOf = (row: string) => rowOrder(table, row, database.foreignTables);
  const recordOld = recordDelete(names, ownDeletionTime(database, table));
  const isMet = `EXISTS (SELECT 1 FROM ${names.list} AS kept WHERE ${names.sameKey("kept", "NEW")})${andStored(names)}`;
  const met = `${names.keyOf("NEW")}, ${orderOf("NEW")}`;
  const meet = [
    `INSERT INTO ${names.met} (${names.metColumns.join(", ")}, ${ORDER_COLUMN}) VALUES (${met})`,
  ];
  return new Map([
    own.make("delete", `AFTER DELETE ${onUnrenamed(table)} WHEN ${hadKey}${andNamed}`, recordOld),
    own.make(
      "rekey",
      `AFTER UPDATE ${ofKey} ${on} WHEN ${isRekeyed} AND ${hadKey}${andNamed}`,
      recordOld,
    ),
    own.make("insert", `AFTER INSERT ${on} WHEN ${isMet}`, meet),
    own.make("update", `AFTER UPDATE ${ofKey}, ${ofTime} ${on} WHEN ${isMet}`, meet),
    own.make("met", `INSTEAD OF INSERT ON ${names.met}`, [`${forgetOlder(names)}${andNamed}`]),
    ...replaceTriggers(names, own, otherKeys, orderOf("taken")),
  ]);
}

/** A text of now, and one of before. */
type Change = [string, string];

/**
 * The triggers as the versions before made them: what they have recorded is complete. Each change is a text that no other part of a
 * trigger has.
 */
function inEarlierWords(
  triggers: ReadonlyMap<string, string>,
  names: TombstoneNames,
  otherKeys: readonly UniqueKey[],
): readonly ReadonlyMap<string, string>[] {
  const { table } = names;
  const stored = andStored(names);
  const isOfNow = `${IS_OF_NOW}${stored}`;
  const ofOthers = ofColumns(otherKeys.map(({ updated }) => updated));
  const ofKeys = ofColumns(
    otherKeys.map(({ updated, columns }) => updated?.slice(0, columns.length) ?? null),
  );
  const lately: Change[] = [
    [stored, ""],
    [IS_OF_NOW, isOfNow],
    [`${touchGone(names)}; `, ""],
    [onGone(names), `AFTER DELETE ON ${names.replaced} WHEN NOT ${isStored(names, "OLD")} AND`],
    [ofOthers, ofKeys],
    ...otherKeys.map(({ ofRows }): Change => [ofRows, ""]),
  ];
  const before: Change[] = [
    [onUnrenamed(table), `ON ${quotedName(table.name)}`],
    [` AND ${hasName(table)}`, ""],
    ...["OLD", "before"].map((row): Change => [recordedTimeSql(row), deletionTimeSql(row)]),
    [
      isOfNow,
      `repsync_is_own AND repsync_taken_at = ${TRIGGER_NOW} AND NOT EXISTS (SELECT 1 FROM repsync_moment)`,
    ],
    [IS_OWN, "1"],
  ];
  return [lately, [...lately, ...before]].map((changes) => {
    const reworded = (sql: string) =>
      changes.reduce((text, [now, then]) => text.replaceAll(now, then), sql);
    return new Map(Array.from(triggers, ([name, sql]) => [name, reworded(sql)]));
  });
}

/** When the row was deleted. In a table of another program a subquery computes the order of the row once. */
function ownDeletionTime({ foreignTables: foreign }: SqliteDatabase, table: Table): string {
  if (!foreign.has(table.name)) return recordedTimeSql("OLD");
  const order = `(SELECT ${rowOrder(table, "OLD", foreign)} AS ${ORDER_COLUMN}) AS before`;
  return `(SELECT ${recordedTimeSql("before")} FROM ${order})`;
}

/**
 * Notes the rows that REPLACE is about to remove. Afterwards the notes of those that are gone become tombstones. Notes of a
 * statement that wrote nothing go with the next one.
 */
function replaceTriggers(
  names: TombstoneNames,
  own: OwnTriggers,
  otherKeys: readonly UniqueKey[],
  takenOrder: string,
): (readonly [string, string])[] {
  if (otherKeys.length === 0) return [];
  const { table, replaced } = names;
  const name = quotedName(table.name);
  const on = `ON ${name}`;
  const taken = otherKeys.map((key) => takenRows(names, key.isTaken));
  const isTaken = taken.map((rows) => `EXISTS (SELECT 1 ${rows})`).join(" OR ");
  const note = taken.map((rows) => noteTaken(names, rows, takenOrder));
  const isLeft = `EXISTS (SELECT 1 FROM ${replaced})`;
  const settle = [touchGone(names), `DELETE FROM ${replaced}`];
  const ofOthers = ofColumns(otherKeys.map(({ updated }) => updated));
  return [
    own.make("taken.insert", `BEFORE INSERT ${on} WHEN ${isTaken}`, note),
    own.make("taken.update", `BEFORE UPDATE ${ofOthers} ${on} WHEN ${isTaken}`, note),
    own.make("replaced.insert", `AFTER INSERT ${on} WHEN ${isLeft}`, settle),
    own.make("replaced.update", `AFTER UPDATE ${ofOthers} ${on} WHEN ${isLeft}`, settle),
    own.make(
      "gone",
      `${onGone(names)} ${hasName(table)}`,
      recordDelete(names, recordedTimeSql("OLD")),
    ),
  ];
}

/** Updates the notes of rows that are gone, for which a trigger on the notes makes tombstones. */
function touchGone(names: TombstoneNames): string {
  const { replaced } = names;
  return `UPDATE ${replaced} SET ${ORDER_COLUMN} = ${ORDER_COLUMN} WHERE NOT ${isStored(names, replaced)}`;
}

/** The clause of that trigger, which names no table of the application: such a one would stand in the way of migrations. */
function onGone({ replaced }: TombstoneNames): string {
  return `AFTER UPDATE ON ${replaced} WHEN`;
}

function isStored(names: TombstoneNames, row: string): string {
  const { table } = names;
  return `EXISTS (SELECT 1 FROM "${table.name}" AS stored WHERE ${names.sameKey("stored", row)})`;
}

/** False where a rule of the table has deleted the arriving row again. */
function andStored(names: TombstoneNames): string {
  return ` AND ${isStored(names, "NEW")}`;
}

function hasKey(names: TombstoneNames, row: string): string {
  return names.keyColumns.map((name) => `${row}.${name} IS NOT NULL`).join(" AND ");
}

/** Lists a tombstone for the old row, unless its key has one with a greater time. */
function recordDelete(names: TombstoneNames, deletedAt: string): string[] {
  const { list, keyColumns } = names;
  const isKept = `EXISTS (SELECT 1 FROM ${list} AS kept WHERE ${names.sameKey("kept", "OLD")})`;
  return [
    `DELETE FROM ${list} WHERE ${names.sameKey(list, "OLD")} AND repsync_deleted_at < ${deletedAt}`,
    `INSERT INTO ${list} (${keyColumns.join(", ")}, repsync_deleted_at, repsync_taken_at, repsync_is_own)
      SELECT ${names.keyOf("OLD")}, ${deletedAt}, ${TRIGGER_NOW}, ${IS_OWN} WHERE NOT ${isKept}`,
  ];
}

/**
 * A later row removes its tombstone. So does a row that arrives in the millisecond of its delete, as after a replacement by delete and
 * insert, or when keys were moved up by one.
 */
function forgetOlder({ list, keyColumns, metColumns }: TombstoneNames): string {
  const isKey = keyColumns.map((name, i) => `${list}.${name} = NEW.${metColumns[i]}`);
  return `DELETE FROM ${list} WHERE ${isKey.join(" AND ")}
    AND (${outlivesSql("NEW", "repsync_deleted_at")} OR ${IS_OF_NOW})`;
}

/** True for a tombstone of the millisecond. */
const IS_OF_NOW = `repsync_is_own = ${IS_OWN} AND repsync_taken_at = ${TRIGGER_NOW}`;

/** Unique keys by which a row can replace one with another upsert key. */
function otherUniqueKeys(database: SqliteDatabase, table: Table): readonly UniqueKey[] {
  const upsertKey = new Set(table.keyColumns.map(({ name }) => name));
  return uniqueKeys(database, table.name).filter(
    ({ columns }) =>
      columns.length !== upsertKey.size || !columns.every((name) => upsertKey.has(name)),
  );
}

/** The rows with other upsert keys that the new row replaces. */
function takenRows(names: TombstoneNames, isTaken: string): string {
  const isOther = `(${names.keyOf("taken")}) IS NOT (${names.keyOf("NEW")})`;
  const conditions = [isTaken, isOther, hasKey(names, "taken")];
  return `FROM "${names.table.name}" AS taken WHERE ${conditions.join(" AND ")}`;
}

function noteTaken(names: TombstoneNames, rows: string, order: string): string {
  const columns = `${names.keyColumns.join(", ")}, ${ORDER_COLUMN}`;
  const values = `${names.keyOf("taken")}, ${order}`;
  return `INSERT INTO ${names.replaced} (${columns}) SELECT ${values} ${rows}`;
}

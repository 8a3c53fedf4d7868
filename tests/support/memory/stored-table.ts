// One table in memory: its rows, its tombstones, and what a later registry may change.

import { AppError } from "../../../src/domain/shared/errors.ts";
import { compareDateTimes, formatMs } from "../../../src/domain/shared/time.ts";
import { DROPPED_NAME, hasDroppedName } from "../../../src/domain/sync/people/name-facts.ts";
import { keyText } from "../../../src/domain/sync/rows/row-key.ts";
import { aheadLimit, outlives, rowTime } from "../../../src/domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../src/domain/sync/rows/tombstone.ts";
import type { ColumnValue, Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { DumpedDeletes, DumpedTombstone } from "../../../src/ports/copies/store-dump.ts";
import { rowIndex } from "./row-order.ts";

/** What is kept of one table. */
export interface StoredTable {
  /** As it was last prepared. */
  readonly table: Table;
  /** Of every column that it ever had. */
  readonly types: ReadonlyMap<string, string>;
  /** Every column of every row, by `keyText`. */
  readonly rows: Map<string, Row>;
  nextId: number;
  /** The rows in order; null when that has to be found out anew. */
  sorted: Row[] | null;
  /** Null where deletes were never recorded. */
  deletes: DeleteRecord | null;
}

/** What is kept of the deletes of one table. */
export interface DeleteRecord extends DumpedDeletes {
  lastPlace: number;
  completeSince: string;
  /** By `keyText`, in the order of their places. */
  readonly kept: Map<string, DumpedTombstone>;
}

/** Tables as they stood at one moment, by name. */
export type TablesMoment = ReadonlyMap<string, StoredTable>;

/** Something that is done to a table, and the row of one key before and after it. */
export interface TableChange {
  readonly table: Table;
  readonly apply: (on: StoredTable) => void;
  readonly before?: Row | undefined;
  readonly after?: Row | undefined;
}

export function copyOf(stored: StoredTable): StoredTable {
  const { rows, deletes } = stored;
  const record = deletes && { ...deletes, kept: new Map(deletes.kept) };
  return { ...stored, rows: new Map(rows), sorted: null, deletes: record };
}

/** D-2.4, D-7.6. `list` is the id of a list that begins now. */
export function preparedTable(
  table: Table,
  before: StoredTable | undefined,
  { list, nowMs }: { readonly list: string; readonly nowMs: number },
): StoredTable {
  const types = new Map(table.columns.map(({ name, type }) => [name, type]));
  const deletes = recordFor(table, before, { list, completeSince: formatMs(nowMs) });
  if (before === undefined || before.rows.size === 0) {
    const nextId = before?.nextId ?? 1;
    return { table, types, rows: new Map(), nextId, sorted: null, deletes };
  }
  const problem = problemOf(table, before);
  if (problem !== null) {
    throw new AppError("schema_conflict", `Table "${table.name}": ${problem}; use a new table`);
  }
  const known = new Map([...before.types, ...types]);
  return numbered({ ...copyOf(before), table, types: known, deletes });
}

/** The record of deletes begins, goes on or is interrupted, as the registry says. */
function recordFor(
  table: Table,
  before: StoredTable | undefined,
  begun: Pick<DeleteRecord, "list" | "completeSince">,
): DeleteRecord | null {
  const known = before?.deletes ?? null;
  if (before === undefined || known === null || keyNames(before.table) !== keyNames(table)) {
    return table.deletes ? { ...begun, lastPlace: 0, kept: new Map() } : null;
  }
  const isInterrupted = table.deletes && !before.table.deletes;
  return isInterrupted ? { ...known, completeSince: begun.completeSince } : known;
}

/** Rows that came while the registry numbered none get numbers. */
function numbered(stored: StoredTable): StoredTable {
  if (!stored.table.columns.some(({ autoIncrement, isKey }) => autoIncrement && !isKey)) {
    return stored;
  }
  for (const [key, row] of stored.rows) {
    stored.rows.set(key, { ...row, id: row["id"] ?? stored.nextId++ });
  }
  return stored;
}

function problemOf(table: Table, before: StoredTable): string | null {
  const isDropped = hasDroppedName(table, Object.fromEntries(before.types));
  if (isDropped && [...before.rows.values()].some(({ username }) => username !== null)) {
    return DROPPED_NAME;
  }
  if (keyNames(before.table) !== keyNames(table)) {
    return `its rows have the upsert key ${keyNames(before.table)}, not ${keyNames(table)}`;
  }
  for (const { name, type, nullable } of table.columns) {
    const known = before.types.get(name);
    if (known === undefined && !nullable) {
      return `the new column "${name}" must be nullable, as the table has rows`;
    }
    if (known !== undefined && known !== type) {
      return `column "${name}" is of type ${known}, not ${type}`;
    }
  }
  return null;
}

function keyNames(table: Table): string {
  return table.keyColumns.map(({ name }) => name).join(", ");
}

/** Inserts a row, or changes what is there of its key; gives it as it stands then. S-4.2.9. */
export function upsertRow(table: Table, stored: StoredTable, row: Row): Row {
  const here = stored.rows.get(keyText(table, row));
  const written = here === undefined ? inserted(table, row, stored) : updated(table, here, row);
  putRow(table, stored, written);
  return written;
}

export function inserted(table: Table, row: Row, stored: StoredTable): Row {
  const values = table.columns.map(({ name, autoIncrement }): [string, ColumnValue] => {
    if (Object.hasOwn(row, name)) return [name, row[name] ?? null];
    return [name, autoIncrement ? stored.nextId++ : null];
  });
  return Object.fromEntries(values);
}

function updated(table: Table, here: Row, row: Row): Row {
  const given = table.updateColumns.filter(({ name }) => Object.hasOwn(row, name));
  const changes = given.map(({ name }) => [name, row[name] ?? null] as const);
  return { ...here, ...Object.fromEntries(changes) };
}

/** Puts a row in its place. */
export function putRow(table: Table, stored: StoredTable, row: Row): void {
  takeRow(table, stored, row);
  stored.rows.set(keyText(table, row), row);
  stored.sorted?.splice(rowIndex(table, stored.sorted, row), 0, row);
}

/** Takes the row with this key out of its place. */
export function takeRow(table: Table, stored: StoredTable, key: Row): void {
  const text = keyText(table, key);
  const row = stored.rows.get(text);
  if (row === undefined) return;
  stored.rows.delete(text);
  stored.sorted?.splice(rowIndex(table, stored.sorted, row), 1);
}

/** Puts a row as another program does: a tombstone that it outlives goes. */
export function putOwn(table: Table, stored: StoredTable, row: Row, nowMs: number): void {
  const { deletedAt } = stored.deletes?.kept.get(keyText(table, row)) ?? {};
  if (deletedAt !== undefined && outlives(rowTime(table, row), deletedAt, aheadLimit(nowMs))) {
    stored.deletes?.kept.delete(keyText(table, row));
  }
  putRow(table, stored, row);
}

/** Puts a tombstone at the end of the list, in the place of what its key had. */
export function listTombstone(
  { table, deletes }: StoredTable,
  { key, deletedAt }: Tombstone,
  nowMs: number,
): void {
  if (deletes === null) throw new Error(`Table "${table.name}" was not prepared with deletes`);
  const text = keyText(table, key);
  const columns = table.keyColumns.map(({ name }) => [name, key[name] ?? null] as const);
  deletes.kept.delete(text);
  const place = ++deletes.lastPlace;
  const kept = { key: Object.fromEntries(columns), deletedAt, place, takenAtMs: nowMs };
  deletes.kept.set(text, kept);
}

/** The same for a tombstone that is later than what its key had. */
export function bury(stored: StoredTable, tombstone: Tombstone, nowMs: number): void {
  const before = stored.deletes?.kept.get(keyText(stored.table, tombstone.key))?.deletedAt;
  if (before !== undefined && compareDateTimes(before, tombstone.deletedAt) >= 0) return;
  listTombstone(stored, tombstone, nowMs);
}

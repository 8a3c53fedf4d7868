// A table of the registry in its collection: fields, indexes and bounds.
import type { Document } from "mongodb";
import { zonelessFrom } from "../../../domain/sync/rows/row-time.ts";
import {
  type Column,
  isNumberedByStore,
  type Row,
  type Table,
  timestampColumnOf,
} from "../../../domain/sync/table/table.ts";
import { type StoredValue, storeTime, storeValue } from "./column-values.ts";

/** Hidden field: the timestamp as it was written when it cannot be parsed; the column itself is null then. */
export const UNPARSED_FIELD = "_repsync";
/** Hidden field: the parsed timestamp when the timestamp column is also a key column, which keeps its own text. */
export const KEY_TIME_FIELD = "_repsync_time";

/** An index with all fields ascending. */
export type IndexKeys = Readonly<Record<string, 1>>;

/** Fields that are read, or not. */
type Fields = Readonly<Record<string, 0 | 1>>;

/** A table and how it is stored. Columns are fields of the same name. */
export interface TableLayout {
  readonly table: Table;
  /** Field that holds the canonical timestamp, or null where it cannot be parsed; null without a timestamp column. */
  readonly timeField: string | null;
  /** Unique index on the upsert key. */
  readonly keyIndex: IndexKeys;
  /** Index in the order of the table: (timestamp, key); without a timestamp column `keyIndex` itself. */
  readonly orderIndex: IndexKeys;
  /** Columns that a write changes on a key conflict. */
  readonly updateNames: ReadonlySet<string>;
  /** Fields that a page needs. */
  readonly pageProjection: Fields;
}

const layouts = new WeakMap<Table, TableLayout>();

export function layoutOf(table: Table): TableLayout {
  return layouts.getOrInsertComputed(table, makeLayout);
}

/** BSON types of values behind which no read can go on: an array has several index entries, and no driver writes the others. */
export const PLACELESS_TYPES = ["array", "undefined", "dbPointer"] as const;

/** True for a table whose new rows get a number as their `id`. */
export function hasNumbers(table: Table): boolean {
  return table.columns.some(isNumberedByStore);
}

/** The columns of the key, and that of the time. */
export function keyAndTime(table: Table): readonly Column[] {
  return [...new Set([...table.keyColumns, timestampColumnOf(table) ?? []].flat())];
}

/**
 * Selects the rows at or after `sinceTime`; every row when it is null or the table has no timestamp. BSON dates of other
 * programs are rows that `datesSince()` selects.
 */
export function sinceFilter(layout: TableLayout, sinceTime: string | null): Document {
  if (sinceTime === null || layout.timeField === null) return {};
  // It compares with texts only, so null never matches.
  return { [layout.timeField]: { $gte: zonelessFrom(layout.table, sinceTime) } };
}

export function positionOf({ table, timeField }: TableLayout, row: Row): Document {
  const time = timestampColumnOf(table);
  const key = storedKey(table, row);
  return time === null || timeField === null
    ? key
    : { [timeField]: storeTime(time, row[time.name]), ...key };
}

/** The stored values of the key columns, by which commands find a row. */
export function storedKey(table: Table, row: Row): Record<string, StoredValue> {
  const key: Record<string, StoredValue> = {};
  for (const column of table.keyColumns) {
    key[column.name] = storeValue(column, row[column.name] ?? null);
  }
  return key;
}

function makeLayout(table: Table): TableLayout {
  const keyNames = table.keyColumns.map((column) => column.name);
  const time = timestampColumnOf(table);
  const timeField = time === null ? null : time.isKey ? KEY_TIME_FIELD : time.name;
  const orderNames = timeField === null ? keyNames : [timeField, ...keyNames];
  const keyIndex = ascending(keyNames);
  return {
    table,
    timeField,
    keyIndex,
    orderIndex: timeField === null ? keyIndex : ascending(orderNames),
    updateNames: new Set(table.updateColumns.map((column) => column.name)),
    pageProjection: projectionOf(table.pageColumns, orderNames),
  };
}

/** The fields that the rows of these columns are read from. */
export function projectionOf(columns: readonly Column[], others: readonly string[] = []): Fields {
  const names = [...columns.map(({ name }) => name), ...others, UNPARSED_FIELD];
  return { _id: 0, ...Object.fromEntries(names.map((name) => [name, 1])) };
}

function ascending(names: readonly string[]): IndexKeys {
  return Object.fromEntries(names.map((name) => [name, 1]));
}

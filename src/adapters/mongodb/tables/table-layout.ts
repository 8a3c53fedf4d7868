// How a table is stored: fields, keys and indexes.
import {
  type Column,
  isNumberedByStore,
  type Row,
  type Table,
  timestampColumnOf,
} from "../../../domain/sync/table/table.ts";
import { type StoredValue, storeValue } from "./column-values.ts";

/** Hidden field with a timestamp that cannot be parsed; the column is null then. */
export const UNPARSED_FIELD = "_repsync";
/** Hidden field with the parsed timestamp where the timestamp column is part of the key, and keeps its text. */
export const KEY_TIME_FIELD = "_repsync_time";

export type IndexKeys = Readonly<Record<string, 1>>;

type Projection = Readonly<Record<string, 0 | 1>>;

/** Columns are fields of the same name. */
export interface TableLayout {
  readonly table: Table;
  /** The field of the canonical timestamp, null where it cannot be parsed; null without a timestamp column. */
  readonly timeField: string | null;
  /** Unique. */
  readonly keyIndex: IndexKeys;
  /** (timestamp, key); without a timestamp column `keyIndex` itself. */
  readonly orderIndex: IndexKeys;
  /** Columns that a write changes on a key conflict. */
  readonly updateNames: ReadonlySet<string>;
  readonly pageProjection: Projection;
}

const layouts = new WeakMap<Table, TableLayout>();

export function layoutOf(table: Table): TableLayout {
  return layouts.getOrInsertComputed(table, makeLayout);
}

/** BSON types after which a read cannot continue: an array has several index entries, and no driver writes the others. */
export const PLACELESS_TYPES = ["array", "undefined", "dbPointer"] as const;

/** True when the store numbers new rows in `id`. */
export function hasNumbers(table: Table): boolean {
  return table.columns.some(isNumberedByStore);
}

export function keyAndTime(table: Table): readonly Column[] {
  return [...new Set([...table.keyColumns, timestampColumnOf(table) ?? []].flat())];
}

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

/** The fields of which rows with these columns are read. */
export function projectionOf(
  columns: readonly Column[],
  others: readonly string[] = [],
): Projection {
  const names = [...columns.map(({ name }) => name), ...others, UNPARSED_FIELD];
  return { _id: 0, ...Object.fromEntries(names.map((name) => [name, 1])) };
}

function ascending(names: readonly string[]): IndexKeys {
  return Object.fromEntries(names.map((name) => [name, 1]));
}

// A table of the registry in the database: its names, its order, and its rows as lines.

import { hashHex } from "../../../domain/shared/hash.ts";
import { fieldOf } from "../../../domain/shared/json.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import {
  type Column,
  type ColumnValue,
  isNumberedByStore,
  type Row,
  type Table,
} from "../../../domain/sync/table/table.ts";
import { SCHEMA } from "../driver/schema.ts";
import { literal, nameText, quoted, textList } from "../driver/sql.ts";
import { castType, held, isOfCalendar, readValue } from "./columns.ts";

/** Slots of tables come after those of names. */
const FIRST_SLOT = 2 ** 32;

/** A column that the order of a table goes by. */
export interface OrderColumn {
  /** In SQL, of the table `t`. Never null. */
  readonly text: string;
  readonly type: string;
  readonly column: Column;
  /** True for the time: what is none comes before all times. */
  readonly isTime: boolean;
}

/** Writes that fire the triggers of a table: all; all but those of sessions in the role of a replica; none, where it has no triggers. */
export type Watch = "always" | "unless replicated" | "never";

export class Layout {
  readonly table: Table;
  /** With its schema, quoted. */
  readonly name: string;
  /** The names of its indexes on the key and on the order. */
  readonly keyIndex: string;
  readonly orderIndex: string;
  /** The table of its tombstones. */
  readonly deleted: string;
  /** Gives rows their numbers in a table that repsync made. */
  readonly numbers: string;
  /** Under which its version is counted. */
  readonly slot: number;
  /** Known once it was examined. */
  watch: Watch = "always";
  /** The statement by which its owner lets it be watched; null where it is watched, or never can be. */
  grant: string | null = null;
  /** Rows that take some MiB, as the last ones that were read did; few until then. */
  portionRows = 200;
  /** Stands in names of what belongs to it, which have at most 63 bytes. */
  readonly short: string;

  readonly schema: string;

  constructor(table: Table, schema: string) {
    this.table = table;
    this.schema = schema;
    this.name = this.inSchema(table.name);
    const hash = hashHex(`${schema} ${table.name}`);
    this.short = hash.slice(0, 12);
    this.keyIndex = `repsync_key_${this.short}`;
    this.orderIndex = `repsync_order_${this.short}`;
    this.deleted = `${SCHEMA}.${quoted(`_deleted_${this.short}`)}`;
    this.numbers = `${SCHEMA}.${quoted(`_numbers_${this.short}`)}`;
    this.slot = FIRST_SLOT + Number.parseInt(hash.slice(0, 8), 16);
  }

  /** The name of a table or an index beside it. */
  inSchema(name: string): string {
    return `${quoted(this.schema)}.${quoted(name)}`;
  }

  /** The order of the table, or that of its key. */
  order(isByKey = false): readonly OrderColumn[] {
    const { timestampColumn, keyColumns, columns } = this.table;
    const time = isByKey ? undefined : columns.find(({ name }) => name === timestampColumn);
    const keys = keyColumns.map((column) => ({
      text: `t.${quoted(column.name)}`,
      type: castType(column),
      column,
      isTime: false,
    }));
    return time === undefined ? keys : [timeOrder(time), ...keys];
  }

  /** The column by which the table numbers rows that come without a number; null without one. */
  get numbered(): Column | null {
    return this.table.columns.find(isNumberedByStore) ?? null;
  }

  /** In SQL: the sequence that numbers its new rows, which is the column's own where another program made the table. */
  sequence(column: Column): string {
    const own = `pg_get_serial_sequence(${literal(this.name)}, ${literal(column.name)})`;
    return `(select coalesce(${own}, ${literal(this.numbers)})::regclass)`;
  }

  /** Columns as texts. */
  shown(columns: readonly Column[]): string {
    return columns.map(({ name }) => `t.${quoted(name)}::text`).join(", ");
  }

  /** True where triggers notice what other programs write. */
  get isWatched(): boolean {
    return this.watch !== "never";
  }

  /** In SQL: whether two rows have the same key. */
  sameKey(left: string, right: string): string {
    const keys = this.table.keyColumns.map(({ name }) => quoted(name));
    return keys.map((key) => `${left}.${key} = ${right}.${key}`).join(" and ");
  }

  /** The rows with keys of the lists from `$1` on, each found by the index of the key; `t` is one. */
  byKeys(shown: string, name = this.name): string {
    const keys = this.table.keyColumns;
    return `select ${shown} from unnest(${this.casts(keys).join(", ")}) as wanted(${nameText(keys)}), lateral (select s.*, s.ctid as repsync_ctid from ${name} as s where ${this.sameKey("s", "wanted")} limit 1) as t`;
  }

  /** The parameters of `byKeys`; each key is one that `holdsKey`. */
  keyLists(keys: readonly Row[]): string[] {
    return this.lists(this.table.keyColumns, keys);
  }

  /** For each column a parameter that is a list of its values, from `$1` on, cast to its type. */
  casts(columns: readonly Column[]): string[] {
    return columns.map((column, i) => `$${i + 1}::text[]::${castType(column)}[]`);
  }

  lists(columns: readonly Column[], rows: readonly Row[]): string[] {
    return columns.map((column) =>
      textList(rows.map((row) => held(column, fieldOf(row, column.name)) ?? null)),
    );
  }

  /** The keys that the table can hold, each once. */
  distinctKeys(keys: readonly Row[]): readonly Row[] {
    const able = keys.filter((key) => this.holdsKey(key));
    return [...new Map(able.map((key) => [keyText(this.table, key), key])).values()];
  }

  holdsKey(key: Row): boolean {
    return this.table.keyColumns.every(
      (column) => (held(column, fieldOf(key, column.name)) ?? null) !== null,
    );
  }
}

/** The row of a line whose columns begin at a place. A loop, as each row of each page is made here. */
export function rowAt(columns: readonly Column[], line: readonly unknown[], at = 0): Row {
  const row: Record<string, ColumnValue> = {};
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] as Column;
    row[column.name] = readValue(column, line[at + i]);
  }
  return row;
}

/** Before all times: rows without one, and those whose time no calendar has. */
export const NO_TIME = "-infinity";

function timeOrder(column: Column): OrderColumn {
  const type = castType(column);
  const name = `t.${quoted(column.name)}`;
  return {
    text: `(case when ${isOfCalendar(name, type)} then ${name} else ${type} '${NO_TIME}' end)`,
    type,
    column,
    isTime: true,
  };
}

// A table of the registry in the database: names, order, and rows as lines.

import { fieldOf } from "../../../domain/shared/json.ts";
import { hashHex } from "../../../domain/shared/text.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
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
import { NOTHING_FOUND } from "./found.ts";

/** The first slot after those of names. */
const FIRST_SLOT = 2 ** 32;

export interface OrderColumn {
  /** SQL over the table `t`; never null. */
  readonly text: string;
  readonly type: string;
  readonly column: Column;
  /** True for the time; values that are no times come first. */
  readonly isTime: boolean;
}

/** Writes that fire a table's triggers. `unless replicated`: not those of sessions in the role of a replica. */
export type Watch = "always" | "unless replicated" | "never";

export class Layout {
  readonly table: Table;
  /** With its schema, quoted. */
  readonly name: string;
  /** Names of the indexes on the key and on the order. */
  readonly keyIndex: string;
  readonly orderIndex: string;
  /** The table of its tombstones. */
  readonly deleted: string;
  /** The sequence of row numbers in a table that repsync made. */
  readonly numbers: string;
  /** The slot of the table's version. */
  readonly slot: number;
  /** What had its name when it was examined last. */
  found = NOTHING_FOUND;
  /** The version of the table's entry in the catalog when its columns were last looked at. */
  looked: unknown = null;
  /** Rows with some MiB, as measured by the last read; few before. */
  portionRows = 200;
  /** Part of derived names, which have at most 63 bytes. */
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

  /** A table or an index of the same schema, quoted. */
  inSchema(name: string): string {
    return `${quoted(this.schema)}.${quoted(name)}`;
  }

  /** The order of the table, or of its key. */
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

  /** The column that the store numbers; null without one. */
  get numbered(): Column | null {
    return this.table.columns.find(isNumberedByStore) ?? null;
  }

  /** In SQL: the sequence of row numbers, the column's own where another program made the table. */
  sequence(column: Column): string {
    const own = `pg_get_serial_sequence(${literal(this.name)}, ${literal(column.name)})`;
    return `(select coalesce(${own}, ${literal(this.numbers)})::regclass)`;
  }

  /** The columns of `t` as texts. */
  shown(columns: readonly Column[]): string {
    return columns.map(({ name }) => `t.${quoted(name)}::text`).join(", ");
  }

  /** True for a table that another program made. */
  get isForeign(): boolean {
    const { kept, table } = this.found;
    if (table === null) return false;
    if (kept === null || kept.isForeign === true) return true;
    return !(table.isMarked || kept.schema === undefined);
  }

  /** True where triggers of the application may change a row before it is written. */
  get hasSetters(): boolean {
    return this.found.table?.hasSetters === true;
  }

  /** The columns of the application that are computed of others. */
  get computed(): readonly string[] {
    const columns = this.found.table?.columns ?? [];
    return columns.filter(({ isComputed }) => isComputed).map(({ name }) => name);
  }

  /** Making triggers takes a right. Letting them fire for every write takes the owner. D-12.2. */
  get watch(): Watch {
    const { table } = this.found;
    if (table === null) return "always";
    if (!table.mayTrigger || table.isReplicated) return "never";
    return table.isOwned ? "always" : "unless replicated";
  }

  /** True where triggers notice writes of other programs. */
  get isWatched(): boolean {
    return this.watch !== "never";
  }

  /** The statement by which the owner lets the table be watched; null where it is watched, or never can be. */
  get grant(): string | null {
    const { table } = this.found;
    if (table === null || table.mayTrigger || table.isReplicated) return null;
    return `grant trigger on ${this.name} to ${table.user}`;
  }

  /** In SQL: true for two rows with the same key. */
  sameKey(left: string, right: string): string {
    const keys = this.table.keyColumns.map(({ name }) => quoted(name));
    return keys.map((key) => `${left}.${key} = ${right}.${key}`).join(" and ");
  }

  /** Selects rows `t` by keys in lists from `$1` on, by the index of the key. */
  byKeys(shown: string, name = this.name): string {
    const keys = this.table.keyColumns;
    return `select ${shown} from unnest(${this.casts(keys).join(", ")}) as wanted(${nameText(keys)}), lateral (select s.*, s.ctid as repsync_ctid from ${name} as s where ${this.sameKey("s", "wanted")} limit 1) as t`;
  }

  /** The parameters of `byKeys`, for keys that `holdsKey`. */
  keyLists(keys: readonly Row[]): string[] {
    return this.lists(this.table.keyColumns, keys);
  }

  /** Lists of values from `$1` on, cast to the types of the columns. */
  casts(columns: readonly Column[]): string[] {
    return columns.map((column, i) => `$${i + 1}::text[]::${castType(column)}[]`);
  }

  lists(columns: readonly Column[], rows: readonly Row[]): string[] {
    return columns.map((column) =>
      textList(rows.map((row) => held(column, fieldOf(row, column.name)) ?? null)),
    );
  }

  /** Each key that the table can hold, once. */
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

/** The row of a line from `at` on. A loop, as every row of every page is made here. */
export function rowAt(columns: readonly Column[], line: readonly unknown[], at = 0): Row {
  const row: Record<string, ColumnValue> = {};
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] as Column;
    row[column.name] = readValue(column, line[at + i]);
  }
  return row;
}

/** Comes before all times: for rows without one, or with one of no calendar. */
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

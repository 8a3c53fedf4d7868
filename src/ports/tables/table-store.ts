import { orElse } from "../../domain/shared/errors.ts";
import { MAX_CURSOR_CHARS } from "../../domain/shared/limits.ts";
import { refuseCursor } from "../../domain/shared/list-query.ts";
import type { RowOrder } from "../../domain/sync/by-hand/shown-rows.ts";
import type { Tombstone } from "../../domain/sync/rows/tombstone.ts";
import type { Column, Row, Table } from "../../domain/sync/table/table.ts";
import type { CallLimit } from "../documents.ts";
import type { Refusal } from "./table-writes.ts";

/**
 * A row's place in a table: its timestamp and key columns; more columns do no harm. Give back the very object that was read by
 * position or in a range: a store may know its place more exactly than its values tell, where another tool wrote them.
 */
export type RowPosition = Row;

/** A part of a table, in the order of the upsert key, whatever the timestamps. */
export interface KeyRange {
  /** Only rows whose key comes after this row's; null from the first on. */
  readonly afterKey: RowPosition | null;
  /** Only rows whose key does not come after this row's; null to the last. */
  readonly throughKey: RowPosition | null;
}

/**
 * Where the rows of a page begin. Rows that another tool wrote without a key are only in pages at an offset or a cursor. A
 * position, and a key of a range, need not be of a row that exists.
 */
export type PageStart =
  /** Rows skipped in the order of the table, 0 or more. Any offset costs about the same when a table is read in order. */
  | { readonly offsetRows: number }
  /** A `cursor` of this table and store; null: the first row. Any place costs the same; later writes move no unread row. D-9.5. */
  | { readonly cursor: string | null }
  /** The row before the first one in the order of the table; null: the first row. Any place costs the same. */
  | { readonly after: RowPosition | null }
  /** A range in the order of the key. */
  | KeyRange;

/** Columns of rows: `page` are the `pageColumns`, `sent` those of them that are also in `pushColumns`. */
export type RowColumns = "page" | "sent";

/** The chosen columns, in registry order. */
export function columnsOf(table: Table, columns: RowColumns): readonly Column[] {
  if (columns === "page") return table.pageColumns;
  return table.pageColumns.filter((column) => table.pushColumns.includes(column));
}

export interface RowsQuery {
  readonly from: PageStart;
  /** Only at a cursor of the same order; absent: `time`, which alone has rows that another tool wrote without a key. D-14.5. */
  readonly order?: RowOrder;
  /** Only rows at or after this canonical time; null: all. No effect without timestamps, or in the order of the key. */
  readonly sinceTime?: string | null;
  /** 1 or more. */
  readonly limitRows: number;
  /** Bytes of JSON of the rows: the page ends before it has more, but has at least one row. Absent: no limit. D-7.9. */
  readonly maxJsonBytes?: number;
  /** Absent: `page`. */
  readonly columns?: RowColumns;
  /** True counts the rows at and after `sinceTime`; only for a page at an offset or a cursor. */
  readonly hasTotal?: true;
}

/** Rows and their total, both from one consistent read. D-3.4. */
export interface RowsPage<Total = number | null> {
  /** The rows in the order that was asked for, their columns in registry order. */
  readonly rows: Row[];
  /** All rows that match `sinceTime`, rows without a key too; null where nobody asked. */
  readonly totalRows: Total;
  /**
   * Where the next page begins, whatever changes until then: at most `MAX_CURSOR_CHARS` letters, digits, `-` and `_`. Behind a row
   * whose position is too long it counts rows. Null after the last row, and for a page that did not begin at a cursor.
   */
  readonly cursor: string | null;
}

export type PageOf<Query> = RowsPage<
  Query extends { readonly hasTotal: true } ? number : number | null
>;

export interface CountQuery {
  /** As in `RowsQuery`. */
  readonly sinceTime?: string | null;
  /** True leaves out rows that another tool wrote without a key. */
  readonly hasKey?: boolean;
  /** Absent: as for a page. A store that works at once has none. */
  readonly limit?: CallLimit;
}

/**
 * The rows of the registry's tables; transactions write them (`TableWrites`). Every method throws `store_unavailable` when the
 * store cannot be reached in time, and no error of a driver. Every read is of one snapshot with each write acknowledged before the
 * call, and no part of an open one. D-3.8. Rows come back with exactly the values that were written.
 *
 * Order of a table: by timestamp, then by the upsert key's columns in `upsert_key` order; without a timestamp by the key alone.
 * Null and unparseable timestamps come first and match no `sinceTime`. Text orders by its UTF-8 bytes, numbers by value, false
 * before true; values of another type than their column's come last, by the bytes of their JSON text. The same data gives the same
 * order on every store. D-3.1.
 */
export interface TableStore {
  /** True when rows of this stamped table that other programs write without a time get one too. D-14.2. */
  stampsOthers(table: Table): boolean;

  /**
   * Makes what is missing: tables, their columns, a unique index on the upsert key and one on (timestamp, key). Idempotent, and
   * safe when several instances do it at once. Throws `schema_conflict`, before anything was changed, with the table in double
   * quotes and what to do, when a change of the registry would lose data or break a promise: another type of a column or another
   * upsert key while the table has rows, a new column that may not be null in a table with rows, or a dropped `username` while rows
   * of people have one. D-2.4, D-8.2. With `isServed`, also where an empty table would be made anew: another program may be about
   * to fill it.
   */
  prepare(tables: readonly Table[], isServed?: boolean): Promise<void>;

  /**
   * Those that are there and lack what `prepare` made on them, or columns, or have columns of other types, as after another program
   * has put its own in the place of one. Absent where that takes nothing away.
   */
  disturbed?(tables: readonly Table[]): Promise<readonly Table[]>;

  /**
   * Reads consecutive rows. A large page is read in portions, with turns for other work in between; memory holds no more of it than
   * `maxJsonBytes` and a portion. D-7.9. Throws `invalid_request` for a cursor that this store never gave.
   */
  page<const Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>>;

  /** Reads the rows with these keys, in any order; unknown keys give none, and a key given twice gives its row once. */
  byKeys(table: Table, keys: readonly Row[], columns: RowColumns): Promise<readonly Row[]>;

  /** Why `TableWrites.write` would refuse a row of `pushColumns`; null for no refusal. Absent where the store holds all. D-12.1. */
  refusal?(table: Table, row: Row): Refusal | null;

  /** The number of rows. Throws when this table cannot be counted. D-3.10. */
  count(table: Table, query?: CountQuery): Promise<number>;

  /** Waits until the tombstones of all rows deleted before the call are there, 10 s at most. Throws `store_unavailable`. D-7.6. */
  settled(table: Table): Promise<void>;
}

/** A place that the cursor of a page names, as text for a URL. D-9.5. */
export interface PartPlace<Position> {
  /** Of the row before the part; null for the first row. */
  readonly position: Position | null;
  /** Rows behind it that the part leaves out. */
  readonly skip: number;
}

export const START = { position: null, skip: 0 } as const;

/** The cursor behind a position, of JSON; where that is null or too long for a URL, it counts rows from the part's begin. */
export function partCursor(last: unknown, counted: PartPlace<unknown>): string {
  const text = last === null ? null : cursorText({ position: last, skip: 0 });
  return text !== null && text.length <= MAX_CURSOR_CHARS ? text : cursorText(counted);
}

function cursorText({ position, skip }: PartPlace<unknown>): string {
  const bytes = new TextEncoder().encode(JSON.stringify([position, skip]));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The place of a cursor; `read` gives null for JSON without a position. Throws `invalid_request` for text that is no cursor. */
export function readPartCursor<Position>(
  text: string,
  read: (json: unknown) => Position | null,
): PartPlace<Position> {
  const written: unknown = orElse(null, () => {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return JSON.parse(new TextDecoder().decode(bytes));
  });
  const [json, skip] = Array.isArray(written) ? written : [];
  const position = json === null ? null : read(json);
  const isCount = Number.isSafeInteger(skip) && skip >= 0;
  if (!isCount || (position === null && json !== null)) return refuseCursor();
  return { position, skip };
}

export interface TombstoneQuery {
  /** Only those listed after this `cursor` of this store; null: from the first on. */
  readonly after: string | null;
  /** Only those taken in at or after this canonical time; null for all. */
  readonly sinceTime: string | null;
  readonly limitRows: number;
}

export interface TombstonePage {
  /** In the order in which they became visible here. A tombstone that was listed anew stands only at its last place. */
  readonly items: readonly Tombstone[];
  /** Behind the last item, else `after`: where to go on. `<id of the list>-<place>` in every store, as peers keep it. D-10.7. */
  readonly cursor: string;
  readonly hasMore: boolean;
  /** Canonical time since when the record of deletes is complete. */
  readonly earliestAvailable: string;
}

/**
 * The tombstones of tables with `deletes`: made for every row that any program deletes, and taken in by `TableWrites.write`. A
 * delete by another program keeps a later tombstone. Every method throws `store_unavailable`. D-7.6.
 */
export interface Tombstones {
  /**
   * Lists tombstones. Waits until all deletes that were committed before the call are in the record, 10 s at most, then
   * throws `store_unavailable`. Throws `invalid_request` for a cursor that this store never gave.
   */
  list(table: Table, query: TombstoneQuery): Promise<TombstonePage>;

  /** The place behind the last tombstone, for all rows deleted before the call. Waits as `list` does. */
  end(table: Table): Promise<string>;

  /** The number of tombstones listed after a place; null: of all. */
  countAfter(table: Table, after: string | null): Promise<number>;

  /** The tombstones of keys recorded by now, once each, in any order. */
  byKeys(table: Table, keys: readonly Row[]): Promise<readonly Tombstone[]>;

  /** Forgets those listed after a place, without bringing rows back. Resolves to their number. Waits as `list` does. */
  forgetAfter(table: Table, after: string | null): Promise<number>;

  /** Forgets those taken in before a canonical time. `earliestAvailable` is then at least that time. */
  prune(table: Table, beforeTime: string): Promise<number>;
}

/** For a store without tables with `deletes`. */
export class NoTombstones implements Tombstones {
  readonly list = none;
  readonly end = none;
  readonly countAfter = none;
  readonly byKeys = none;
  readonly forgetAfter = none;
  readonly prune = none;
}

function none(): Promise<never> {
  return Promise.reject(new Error("This store records no deletes"));
}

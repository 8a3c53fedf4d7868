// The tables of the registry: pages with their totals from one snapshot, and rows by key. Totals and positions are reused while a table
// is unchanged.
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import { type Row, type Table, timestampColumnOf } from "../../../domain/sync/table/table.ts";
import {
  type CountQuery,
  columnsOf,
  type PageOf,
  partCursor,
  type RowColumns,
  type RowPosition,
  type RowsQuery,
  type TableStore,
} from "../../../ports/tables/table-store.ts";
import type { SqliteRow, SqliteValue } from "../driver/connection.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { boundValues, decodeRows, textWithNul, valueEncoder } from "./column-values.ts";
import { ORDER_COLUMN } from "./order-column.ts";
import {
  firstStart,
  type Place,
  positionJson,
  type SkippingStart,
  type Start,
  startAtCursor,
  startBehind,
} from "./page-start.ts";
import { PreparedTables } from "./prepare.ts";
import { type RowRange, readRowsWithKeys, TableSql } from "./statements.ts";

/** Rows of the first portion of a page, which shows their size. */
const FIRST_PORTION_ROWS = 16;
/** The JSON of a later portion, in bytes, about. */
const PORTION_BYTES = 4 * 1024 * 1024;

interface OpenPage {
  readonly table: Table;
  readonly columns: RowColumns;
  readonly sequence: PageSequence;
  readonly start: SkippingStart;
  readonly wantedRows: number;
  readonly totalRows: number | null;
  readonly size: PageSize;
  /** True when only the first rows of a portion are measured, without a limit of bytes: measuring all takes a third of the time of reading. */
  readonly isSampled: boolean;
  measuredRows: number;
  readonly rows: Row[];
  cursor: string | null;
  /** True when the next row is too large for the page, or there is none. */
  isEnded: boolean;
}

export class SqliteTables implements TableStore {
  readonly #database: SqliteDatabase;
  readonly #sql = new WeakMap<Table, TableSql>();
  readonly #bookmarks = new PageBookmarks<Place>();
  /** Positions of read rows, as values of other tools do not show their position. */
  readonly #places = new WeakMap<RowPosition, Place>();
  readonly #prepared: PreparedTables;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#prepared = new PreparedTables(database);
  }

  async prepare(tables: readonly Table[], isServed?: boolean): Promise<void> {
    await this.#prepared.prepare(tables, isServed);
  }

  async disturbed(tables: readonly Table[]): Promise<readonly Table[]> {
    return await this.#prepared.disturbed(tables);
  }

  stampsOthers(): boolean {
    return true;
  }

  /** Triggers make tombstones in the commit of the delete. */
  async settled(): Promise<void> {}

  /** Gives others turns. A table that changes in one of them is read anew without turns. */
  async page<Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>> {
    const { from, sinceTime = null } = query;
    const hasKey = !("offsetRows" in from || "cursor" in from);
    const first = firstStart(table, sinceTime, hasKey);
    const start = this.#startOf(table, first, query);
    const turns = this.#database.turns();
    let opened: OpenPage | null = null;
    let isChanged = false;
    for (;;) {
      const page = await this.#database.read(() => {
        const sequence = this.#sequenceOf(table, sinceTime);
        isChanged ||= opened !== null && opened.sequence.version !== sequence.version;
        const known = isChanged ? null : opened;
        const page = known ?? this.#open(table, query, { first, start, sequence });
        do {
          if (!isWhole(page)) this.#readPortion(page);
        } while (!isWhole(page) && (isChanged || !turns.isOver));
        if (isWhole(page) && "cursor" in from) page.cursor = this.#cursorBehind(page);
        return page;
      });
      const { rows, totalRows, cursor } = page;
      if (isWhole(page)) return { rows, totalRows, cursor } as PageOf<Query>;
      opened = page;
      await turns.next();
    }
  }

  async byKeys(table: Table, keys: readonly Row[], columns: RowColumns): Promise<Row[]> {
    return this.#database.read(() =>
      readRowsWithKeys(this.#database, table, keys, columnsOf(table, columns)),
    );
  }

  async count(
    table: Table,
    { sinceTime = null, hasKey = false }: CountQuery = {},
  ): Promise<number> {
    const first = firstStart(table, sinceTime, hasKey);
    return this.#database.read(() =>
      this.#countRows(table, first, this.#sequenceOf(table, sinceTime)),
    );
  }

  /** The start of a page. At an offset it has all rows before the offset to skip. */
  #startOf(table: Table, first: Start, query: RowsQuery): SkippingStart {
    const { from } = query;
    if ("offsetRows" in from) return { ...first, skipRows: from.offsetRows };
    if ("after" in from) return startBehind(first, from.after && this.#placeOf(table, from.after));
    if ("cursor" in from) return startAtCursor(table, first, from.cursor, query.order);
    const [after, through] = [from.afterKey, from.throughKey].map((row) =>
      row === null ? [] : this.#keyOf(table, row),
    ) as [Place, Place];
    const hasEnd = through.length > 0;
    const range: RowRange = {
      order: "key",
      hasEnd,
      hasKey: true,
      from: after.length > 0 ? "position" : "first",
    };
    return { range, values: [...after, ...through], skipRows: 0 };
  }

  #open(
    table: Table,
    { from, limitRows, maxJsonBytes, columns = "page", hasTotal }: RowsQuery,
    { first, start, sequence }: Pick<OpenPage, "start" | "sequence"> & { readonly first: Start },
  ): OpenPage {
    const totalRows = hasTotal ? this.#countRows(table, first, sequence) : null;
    const isAtOffset = "offsetRows" in from;
    const leftRows = isAtOffset && totalRows !== null ? totalRows - start.skipRows : limitRows;
    return {
      table,
      columns,
      sequence,
      totalRows,
      start: isAtOffset && leftRows > 0 ? this.#nearestStart(table, start, sequence) : start,
      wantedRows: Math.max(0, Math.min(limitRows, leftRows)),
      size: new PageSize(maxJsonBytes ?? Number.POSITIVE_INFINITY),
      isSampled: maxJsonBytes === undefined,
      measuredRows: 0,
      rows: [],
      cursor: null,
      isEnded: false,
    };
  }

  /** Goes from the nearest bookmark to an offset in the index alone, and keeps a bookmark there. */
  #nearestStart(table: Table, start: SkippingStart, sequence: PageSequence): SkippingStart {
    const { skipRows: offsetRows } = start;
    const bookmark = this.#bookmarks.find(sequence, offsetRows);
    const skipRows = offsetRows - (bookmark?.offsetRows ?? 0);
    const nearest = startBehind(start, bookmark?.position ?? null, skipRows);
    if (skipRows === 0) return nearest;
    const position = this.#placeIn(table, nearest, skipRows - 1);
    // No row compares as after a key with NULL, which other tools may write.
    if (position === null || position.includes(null)) return nearest;
    this.#bookmarks.remember(sequence, { offsetRows, position });
    return startBehind(start, position);
  }

  #readPortion(page: OpenPage): void {
    const { table, start, rows, size, columns } = page;
    const limitRows = Math.min(portionRows(page), page.wantedRows - rows.length);
    const values = [...start.values, limitRows, start.skipRows + rows.length];
    const sql = this.#sqlOf(table);
    const found = this.#database.all(sql.rows(columns, start.range), values);
    const read = start.range.hasKey
      ? this.#placedRows(table, found, columns)
      : decodeRows(found, sql.columns(columns));
    for (const [i, row] of read.entries()) {
      const isMeasured = !page.isSampled || i < FIRST_PORTION_ROWS;
      page.measuredRows += Number(isMeasured);
      page.isEnded ||= isMeasured && !size.takes(row);
      if (page.isEnded) return;
      rows.push(row);
    }
    page.isEnded = found.length < limitRows;
  }

  /** The cursor of the next page; null when this page is the last. */
  #cursorBehind({ table, start, rows }: OpenPage): string | null {
    const skipRows = start.skipRows + rows.length;
    if (rows.length === 0 || this.#placeIn(table, start, skipRows) === null) return null;
    const position = this.#placeIn(table, start, skipRows - 1) ?? [];
    const { range, values } = start;
    const began = range.hasEndTime ? values.slice(0, -1) : values;
    const counted = range.from === "position" ? positionJson(began) : null;
    return partCursor(positionJson(position), { position: counted, skip: skipRows });
  }

  /** Counts the rows from a start on, unless the number is known. */
  #countRows(table: Table, { range, values }: Start, sequence: PageSequence): number {
    const known = range.hasKey ? null : this.#bookmarks.totalRows(sequence);
    if (known !== null) return known;
    const [row] = this.#database.all(this.#sqlOf(table).count(range), values);
    const totalRows = Number(row?.["n"]);
    if (!range.hasKey) this.#bookmarks.rememberTotal(sequence, totalRows);
    return totalRows;
  }

  /** The position of the row `skipRows` behind a start; null where there is none. */
  #placeIn(table: Table, { range, values }: Start, skipRows: number): Place | null {
    const [row] = this.#database.all(this.#sqlOf(table).place(range), [...values, skipRows]);
    return row === undefined ? null : Object.values(row).map((value) => this.#compared(value));
  }

  /** All rows from a time on, in their present state. Within `read`. */
  #sequenceOf({ name, timestampColumn }: Table, sinceTime: string | null): PageSequence {
    const version = this.#database.states.of(name);
    return { tableName: name, sinceTime: timestampColumn === null ? null : sinceTime, version };
  }

  /** Decodes rows with a key, and remembers their positions. */
  #placedRows(table: Table, found: SqliteRow[], columns: RowColumns): Row[] {
    const isTimed = table.timestampColumn !== null;
    const places = found.map((row) => [
      ...(isTimed ? [row[ORDER_COLUMN] ?? null] : []),
      ...table.keyColumns.map(({ name }) => this.#compared(row[name] ?? null)),
    ]);
    const values = isTimed ? found.map(({ [ORDER_COLUMN]: _order, ...others }) => others) : found;
    const rows = decodeRows(values, this.#sqlOf(table).columns(columns));
    for (const [i, row] of rows.entries()) this.#places.set(row, places[i] as Place);
    return rows;
  }

  #placeOf(table: Table, row: RowPosition): Place {
    const known = this.#places.get(row);
    if (known !== undefined) return known;
    const key = boundValues(table.keyColumns, row);
    const timestamp = timestampColumnOf(table);
    if (timestamp === null) return key;
    const time = valueEncoder(timestamp)(row[timestamp.name] ?? null);
    // A timestamp that is not a time is stored as NULL or BLOB.
    return [typeof time === "string" ? time : "", ...key];
  }

  #keyOf(table: Table, row: RowPosition): Place {
    return this.#placeOf(table, row).slice(table.timestampColumn === null ? 0 : 1);
  }

  /** The bound form of a value: text with a NUL was read as BLOB. */
  #compared(value: SqliteValue): SqliteValue {
    return this.#database.cutsTextAtNul ? textWithNul(value) : value;
  }

  #sqlOf(table: Table): TableSql {
    return this.#sql.getOrInsertComputed(table, () => new TableSql(table, this.#database));
  }
}

function isWhole({ isEnded, rows, wantedRows }: OpenPage): boolean {
  return isEnded || rows.length >= wantedRows;
}

/** The number of rows to read next, by the size of the rows so far. */
function portionRows({ measuredRows, size }: OpenPage): number {
  if (measuredRows === 0) return FIRST_PORTION_ROWS;
  return Math.max(1, Math.floor((PORTION_BYTES / size.bytes) * measuredRows));
}

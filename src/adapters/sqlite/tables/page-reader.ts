// Reads pages and totals, each pair from one snapshot. Totals and bookmarks are reused while the table is unchanged.
import { compareUtf8 } from "../../../domain/shared/json.ts";
import { MAX_CURSOR_CHARS } from "../../../domain/shared/limits.ts";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import type {
  StoredPage,
  StoredPageQuery,
  StoredPart,
  StoredPartQuery,
} from "../../../ports/tables/table-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteValue } from "../driver/driver.ts";
import { decodeRows, textWithNul } from "./column-values.ts";
import { cursorText, type PartPlace, readCursor } from "./part-cursor.ts";
import { type FirstStart, firstStart, type Start, type TableSql } from "./statements.ts";

/** Rows of the first portion of a page, which shows how large they are. */
const FIRST_PORTION_ROWS = 16;
/** About as much JSON as the later portions have, in bytes. */
const PORTION_BYTES = 4 * 1024 * 1024;

/** A row's place in the order of its table: the values of `orderColumns`. */
type Position = readonly SqliteValue[];

/** A start, and the rows to be skipped from there on. */
interface SkippingStart extends Start {
  readonly skipRows: number;
}

interface Reading {
  readonly sql: TableSql;
  readonly sequence: PageSequence;
  readonly first: FirstStart;
  readonly totalRows: number;
}

/** A page that is being read. */
interface OpenPage {
  readonly reading: Reading;
  readonly start: SkippingStart;
  readonly wantedRows: number;
  readonly size: PageSize;
  readonly rows: Row[];
  /** True when the next row would be too much, or there is none although the total says so. */
  isEnded: boolean;
}

export class PageReader {
  readonly #database: SqliteDatabase;
  readonly #sqlOf: (table: Table) => TableSql;
  readonly #bookmarks = new PageBookmarks<Position>();

  constructor(database: SqliteDatabase, sqlOf: (table: Table) => TableSql) {
    this.#database = database;
    this.#sqlOf = sqlOf;
  }

  async readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    const page = (await this.#readInTurns(table, query)) ?? (await this.#readAtOnce(table, query));
    return { rows: page.rows, totalRows: page.reading.totalRows };
  }

  /** Reads a part in one turn: it is no larger than one portion of a page or two. */
  async readPart(table: Table, query: StoredPartQuery): Promise<StoredPart> {
    const columns = table.keyColumns.length + (table.timestampColumn === null ? 0 : 1);
    const place = query.cursor === null ? null : readCursor(query.cursor, columns);
    return this.#database.read(() => {
      const sinceTime = table.timestampColumn === null ? null : query.sinceTime;
      const reading = this.#beginReading(table, sinceTime);
      const page: OpenPage = {
        reading,
        start: partStart(reading.first, place),
        wantedRows: query.limitRows,
        size: new PageSize(query.maxJsonBytes),
        rows: [],
        isEnded: false,
      };
      while (!isWhole(page)) this.#readPortion(table, page);
      return { rows: page.rows, totalRows: reading.totalRows, cursor: this.#cursorBehind(page) };
    });
  }

  /** Where the next part begins; null when there is no row behind this one. */
  #cursorBehind({ reading: { sql }, start, rows }: OpenPage): string | null {
    const skipRows = start.skipRows + rows.length;
    const [last, next] = [skipRows - 1, skipRows].map(
      (offset) => this.#database.all(sql.position(start.kind), [...start.values, offset])[0],
    );
    if (rows.length === 0 || last === undefined || next === undefined) return null;
    const position = Object.values(last).map((value) => this.#compared(value));
    const behind = cursorText({ position, skipRows: 0 });
    // No row compares as after NULL, and a long place is no part of a URL: then it is counted off from the start.
    if (!position.includes(null) && behind.length <= MAX_CURSOR_CHARS) return behind;
    return cursorText({ position: start.kind === "position" ? start.values : null, skipRows });
  }

  async countRows(table: Table): Promise<number> {
    return this.#database.read(() => this.#beginReading(table, null).totalRows);
  }

  /** Reads a page with turns for others in between; null when the table was changed in one of them. */
  async #readInTurns(table: Table, query: StoredPageQuery): Promise<OpenPage | null> {
    const turns = new Turns(this.#database, () => this.#database.nextTurn());
    let page: OpenPage | null = null;
    for (;;) {
      page = await this.#database.read(() => {
        const opened: OpenPage = page ?? this.#open(table, query);
        if (!this.#isUnchanged(opened.reading.sequence)) return null;
        do {
          if (!isWhole(opened)) this.#readPortion(table, opened);
        } while (!isWhole(opened) && !turns.isOver);
        return opened;
      });
      if (page === null || isWhole(page)) return page;
      await turns.next();
    }
  }

  async #readAtOnce(table: Table, query: StoredPageQuery): Promise<OpenPage> {
    return this.#database.read(() => {
      const page = this.#open(table, query);
      while (!isWhole(page)) this.#readPortion(table, page);
      return page;
    });
  }

  #isUnchanged({ tableName, version }: PageSequence): boolean {
    return this.#database.versionOf(tableName) === version;
  }

  #open(table: Table, query: StoredPageQuery): OpenPage {
    const sinceTime = table.timestampColumn === null ? null : query.sinceTime;
    const reading = this.#beginReading(table, sinceTime);
    const leftRows = Math.max(0, reading.totalRows - query.offsetRows);
    return {
      reading,
      start: this.#findStart(reading, query.offsetRows),
      wantedRows: Math.min(query.limitRows, leftRows),
      size: new PageSize(query.maxJsonBytes ?? Number.POSITIVE_INFINITY),
      rows: [],
      isEnded: false,
    };
  }

  #readPortion(table: Table, page: OpenPage): void {
    const { reading, start, rows, size } = page;
    const limitRows = Math.min(portionRows(page), page.wantedRows - rows.length);
    const values = [...start.values, limitRows, start.skipRows + rows.length];
    const found = this.#database.all(reading.sql.page(start.kind), values);
    for (const row of decodeRows(found, table.pageColumns)) {
      page.isEnded ||= !size.takes(row);
      if (page.isEnded) return;
      rows.push(row);
    }
    page.isEnded = found.length < limitRows;
  }

  /** Finds the state of a table, and counts its rows unless the number is known. */
  #beginReading(table: Table, sinceTime: string | null): Reading {
    const sql = this.#sqlOf(table);
    const version = this.#database.versionOf(table.name);
    const sequence = { tableName: table.name, sinceTime, version };
    const first = firstStart(table, sinceTime);
    const known = this.#bookmarks.totalRows(sequence);
    if (known !== null) return { sql, sequence, first, totalRows: known };
    const [row] = this.#database.all(sql.count(first.kind), first.values);
    const totalRows = Number(row?.["n"]);
    this.#bookmarks.rememberTotal(sequence, totalRows);
    return { sql, sequence, first, totalRows };
  }

  /** Goes from the nearest known place to an offset, in the index alone, and remembers the place found. */
  #findStart({ sql, sequence, first, totalRows }: Reading, offsetRows: number): SkippingStart {
    if (offsetRows >= totalRows) return { ...first, skipRows: offsetRows };
    const bookmark = this.#bookmarks.find(sequence, offsetRows);
    const nearest: SkippingStart =
      bookmark === null
        ? { ...first, skipRows: offsetRows }
        : {
            kind: "position",
            values: bookmark.position,
            skipRows: offsetRows - bookmark.offsetRows,
          };
    if (nearest.skipRows === 0) return nearest;
    const rowsAfter = totalRows - offsetRows;
    const [row] =
      rowsAfter < nearest.skipRows
        ? this.#database.all(sql.positionFromEnd(first.kind), [...first.values, rowsAfter])
        : this.#database.all(sql.position(nearest.kind), [...nearest.values, nearest.skipRows - 1]);
    const position = Object.values(row ?? { end: null }).map((value) => this.#compared(value));
    // No row compares as after a key with NULL in it, which other tools may have written.
    if (position.includes(null)) return nearest;
    this.#bookmarks.remember(sequence, { offsetRows, position });
    return { kind: "position", values: position, skipRows: 0 };
  }

  /** A value in the form in which it is bound: text with a NUL was read as BLOB. */
  #compared(value: SqliteValue): SqliteValue {
    return this.#database.cutsTextAtNul ? textWithNul(value) : value;
  }
}

/** After the place or at the first row, whichever is later. */
function partStart(first: FirstStart, place: PartPlace | null): SkippingStart {
  if (place === null) return { ...first, skipRows: 0 };
  const { position, skipRows } = place;
  const [time] = first.values;
  const order = position?.[0];
  const isEarlier =
    typeof order === "string" && typeof time === "string" && compareUtf8(order, time) < 0;
  if (position === null || isEarlier) return { ...first, skipRows: isEarlier ? 0 : skipRows };
  return { kind: "position", values: position, skipRows };
}

function isWhole({ isEnded, rows, wantedRows }: OpenPage): boolean {
  return isEnded || rows.length >= wantedRows;
}

/** How many rows to read next, by the size of those read so far. */
function portionRows({ rows, size }: OpenPage): number {
  if (rows.length === 0) return FIRST_PORTION_ROWS;
  return Math.max(1, Math.floor((PORTION_BYTES / size.bytes) * rows.length));
}

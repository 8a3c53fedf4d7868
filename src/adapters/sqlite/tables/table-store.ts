import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import type { Column, Row, Table } from "../../../domain/sync/table/table.ts";
import {
  PreparedTables,
  type RowWrite,
  type StoredPage,
  type StoredPageQuery,
  type TableStore,
  type WriteFailure,
  type WriteOptions,
} from "../../../ports/tables/table-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteStatement, SqliteValue } from "../driver/driver.ts";
import { setMarkers } from "../runs/marker-store.ts";
import { decodeRows, textWithNul, valueEncoder } from "./column-values.ts";
import { prepareTables } from "./schema.ts";
import { type FirstStart, firstStart, type Start, type TableSql, tableSql } from "./statements.ts";

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

interface BoundWrite {
  readonly index: number;
  readonly absent: readonly Column[];
  readonly values: readonly SqliteValue[];
}

const NO_MARKERS: ReadonlyMap<string, string> = new Map();

/** Rows in real SQLite tables with the registry's names and columns. */
export class SqliteTableStore implements TableStore {
  readonly #database: SqliteDatabase;
  readonly #bookmarks = new PageBookmarks<Position>();
  readonly #sql = new WeakMap<Table, TableSql>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    await this.#database.write(() => prepareTables(this.#database, tables));
    return new PreparedTables(tables);
  }

  async readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    return this.#database.read(() => {
      const sinceTime = table.timestampColumn === null ? null : query.sinceTime;
      const reading = this.#beginReading(table, sinceTime);
      const { sql, totalRows } = reading;
      if (query.offsetRows >= totalRows) return { rows: [], totalRows };
      const start = this.#findStart(reading, query.offsetRows);
      const values = [...start.values, query.limitRows, start.skipRows];
      const rows = this.#database.all(sql.page(start.kind), values);
      return { rows: decodeRows(rows, table.pageColumns), totalRows };
    });
  }

  async write(
    table: Table,
    writes: readonly RowWrite[],
    { markers = NO_MARKERS, beforeCommit }: WriteOptions = {},
  ): Promise<readonly WriteFailure[]> {
    if (writes.length === 0 && markers.size === 0) return [];
    const bound = bindWrites(table, writes);
    const work = () => {
      const failures = this.#writeAll(table, bound);
      setMarkers(this.#database, markers);
      beforeCommit?.();
      return failures;
    };
    return this.#database.write(work, [table.name]);
  }

  async countRows(table: Table): Promise<number> {
    return this.#database.read(() => this.#beginReading(table, null).totalRows);
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

  #writeAll(table: Table, writes: readonly BoundWrite[]): WriteFailure[] {
    const failures: WriteFailure[] = [];
    let absent: readonly Column[] | null = null;
    let statement: SqliteStatement | null = null;
    for (const write of writes) {
      if (statement === null || write.absent !== absent) {
        absent = write.absent;
        statement = this.#database.statement(this.#sqlOf(table).upsert(absent));
      }
      try {
        statement.run(write.values);
      } catch (error) {
        const message = this.#database.recordReason(error);
        if (message === null) throw error;
        failures.push({ index: write.index, message });
      }
    }
    return failures;
  }

  #sqlOf(table: Table): TableSql {
    const sql = this.#sql.get(table) ?? tableSql(table, this.#database.cutsTextAtNul);
    this.#sql.set(table, sql);
    return sql;
  }
}

function bindWrites(table: Table, writes: readonly RowWrite[]): BoundWrite[] {
  const columns = table.pushColumns.map((column) => ({ column, encode: valueEncoder(column) }));
  const hidden = table.pushColumns.filter((column) => !column.serialize);
  const isAbsent = (row: Row) => hidden.filter(({ name }) => !Object.hasOwn(row, name));
  const none: readonly Column[] = [];
  return writes.map(({ index, row }) => {
    const absent = hidden.length === 0 ? none : isAbsent(row);
    const present =
      absent.length === 0 ? columns : columns.filter(({ column }) => !absent.includes(column));
    const values = present.map(({ column, encode }) => encode(row[column.name] ?? null));
    return { index, absent: absent.length === 0 ? none : absent, values };
  });
}

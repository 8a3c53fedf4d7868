import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { KeyRange, RowPosition, RowSource } from "../../../src/ports/tables/row-source.ts";
import { compareRows, keyText, rowIndex, sinceIndex } from "./row-order.ts";

/** The rows of a store. */
interface StoredRows {
  /** Every column of every row, in the order of the table. */
  sortedRows(table: Table): readonly Row[];
  rowByKey(table: Table, key: Row): Row | undefined;
}

/** Reads the rows of a store in memory. */
export class MemoryRowSource implements RowSource {
  readonly #storage: StoredRows;

  constructor(storage: StoredRows) {
    this.#storage = storage;
  }

  async readAfter(
    table: Table,
    query: {
      readonly after: RowPosition | null;
      readonly sinceTime: string | null;
      readonly limitRows: number;
    },
  ): Promise<readonly Row[]> {
    const { after, limitRows } = query;
    const rows = this.#storage.sortedRows(table);
    const since = sinceIndex(table, rows, query.sinceTime);
    const behind = after === null ? 0 : rowIndex(table, rows, after);
    const isThere =
      after !== null && rows[behind] !== undefined && !isApart(table, rows[behind], after);
    const from = Math.max(since, behind + Number(isThere));
    return rows.slice(from, from + limitRows).map((row) => readableRow(table, row));
  }

  async countSince(table: Table, sinceTime: string | null): Promise<number> {
    const rows = this.#storage.sortedRows(table);
    return rows.length - sinceIndex(table, rows, sinceTime);
  }

  async readByKeys(table: Table, keys: readonly RowPosition[]): Promise<readonly Row[]> {
    const wanted = new Map(keys.map((key) => [keyText(table, key), key]));
    return [...wanted.values()].flatMap((key) => {
      const row = this.#storage.rowByKey(table, key);
      return row === undefined ? [] : [readableRow(table, row)];
    });
  }

  async readKeyRange(table: Table, range: KeyRange, limitRows: number): Promise<readonly Row[]> {
    const byKey = { ...table, timestampColumn: null };
    const { afterKey, throughKey } = range;
    return this.#storage
      .sortedRows(table)
      .toSorted((a, b) => compareRows(byKey, a, b))
      .filter((row) => afterKey === null || compareRows(byKey, row, afterKey) > 0)
      .filter((row) => throughKey === null || compareRows(byKey, row, throughKey) <= 0)
      .slice(0, limitRows)
      .map((row) => readableRow(table, row));
  }
}

function isApart(table: Table, a: Row, b: Row): boolean {
  return compareRows(table, a, b) !== 0;
}

function readableRow(table: Table, row: Row): Row {
  const columns = table.pageColumns.filter((column) => table.pushColumns.includes(column));
  return Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null]));
}

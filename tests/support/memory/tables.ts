// A store in memory, as simple as the contract allows: the reference that real stores are compared with.
import { AppError } from "../../../src/domain/shared/errors.ts";
import { refuseCursor } from "../../../src/domain/shared/list-query.ts";
import { PageSize } from "../../../src/domain/sync/rows/page-size.ts";
import { keyText } from "../../../src/domain/sync/rows/row-key.ts";
import { changeTime, rowTime } from "../../../src/domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import {
  type CountQuery,
  columnsOf,
  type PageOf,
  type PageStart,
  type RowColumns,
  type RowsPage,
  type RowsQuery,
  type TableStore,
} from "../../../src/ports/tables/table-store.ts";
import { FakeClock } from "../time/fake-clock.ts";
import { compareRows, rowIndex, sinceIndex } from "./row-order.ts";
import {
  bury,
  copyOf,
  inserted,
  preparedTable,
  putOwn,
  type StoredTable,
  type TableChange,
  type TablesMoment,
  takeRow,
} from "./stored-table.ts";
import { MemoryTombstones } from "./tombstones.ts";

let lists = 0;

/** Tables in memory. `failure` makes every call fail, as a broken store would. */
export class MemoryTables implements Pick<FullStorage, "tables" | "ping" | "close">, TableStore {
  readonly tombstones: MemoryTombstones;
  /** Thrown by every method while it is set. */
  failure: AppError | null = null;
  /** Names of tables whose rows cannot be counted. */
  readonly uncountable = new Set<string>();
  /** Why the store itself refuses a row; null when it takes it. */
  refuse: (table: Table, row: Row) => string | null = () => null;
  /** Called after every commit, with the rows that it put and the names of what it changed. */
  onCommit: (rows: readonly Row[], changed: readonly string[]) => void = () => {};
  /** Called with the rows that are put or removed, as they were and as they are. */
  onRows: (table: Table, rows: readonly Row[]) => void = () => {};
  readonly #clock: Clock;
  /** By cursor, the last row of a part. */
  readonly #places = new Map<string, Row>();
  #tables = new Map<string, StoredTable>();
  /** Names of those that a moment has, too. */
  #shared = new Set<string>();

  /** `clock` is the store's own: ranks of times and tombstones go by it. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.tombstones = new MemoryTombstones(this);
  }

  get tables(): TableStore {
    return this;
  }

  stampsOthers(): boolean {
    return false;
  }

  async prepare(tables: readonly Table[]): Promise<void> {
    this.check();
    const prepared = new Map(this.#tables);
    for (const table of tables) {
      const begun = { list: `list${++lists}`, nowMs: this.#clock.nowMs() };
      prepared.set(table.name, preparedTable(table, this.#tables.get(table.name), begun));
    }
    this.#tables = prepared;
  }

  async page<Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>> {
    if (query.order?.startsWith("-")) return this.#pageInReverse(table, query);
    const { from, limitRows, maxJsonBytes = Number.POSITIVE_INFINITY, columns = "page" } = query;
    const isByKey = "afterKey" in from || query.order === "key";
    const order = isByKey ? { ...table, timestampColumn: null } : table;
    const stored = this.sortedRows(table);
    const sorted = isByKey ? stored.toSorted((a, b) => compareRows(order, a, b)) : stored;
    const since = sinceIndex(order, sorted, query.sinceTime ?? null);
    const first = Math.max(since, this.#firstIndex(order, sorted, from, since));
    const end = "afterKey" in from && from.throughKey !== null ? from.throughKey : null;
    const size = new PageSize(maxJsonBytes);
    const rows: Row[] = [];
    for (const one of sorted.slice(first, first + limitRows)) {
      const row = shownRow(table, one, columns);
      if (end !== null && compareRows(order, one, end) > 0) break;
      if (!size.takes(row)) break;
      rows.push(row);
    }
    const last = sorted[first + rows.length - 1];
    const hasNext = last !== undefined && first + rows.length < sorted.length;
    const cursor = "cursor" in from && hasNext ? this.#cursorBehind(order, last) : null;
    const totalRows = query.hasTotal ? sorted.length - since : null;
    return { rows, totalRows, cursor } as RowsPage as PageOf<Query>;
  }

  /** The rows before a place, turned round. */
  async #pageInReverse<Query extends RowsQuery>(
    table: Table,
    query: Query,
  ): Promise<PageOf<Query>> {
    const { from, limitRows, sinceTime = null, columns = "page" } = query;
    const order = query.order === "-key" ? { ...table, timestampColumn: null } : table;
    const sorted = this.sortedRows(table).toSorted((a, b) => compareRows(order, a, b));
    const cursor = "cursor" in from ? from.cursor : null;
    const place = cursor === null ? null : this.#placeOf(order, cursor);
    const end = place === null ? sorted.length : rowIndex(order, sorted, place);
    const left = sorted.slice(sinceIndex(order, sorted, sinceTime), end).reverse();
    const size = new PageSize(query.maxJsonBytes ?? Number.POSITIVE_INFINITY);
    const wanted = left.slice(0, limitRows).map((row) => shownRow(table, row, columns));
    const cut = wanted.findIndex((row) => !size.takes(row));
    const rows = cut < 0 ? wanted : wanted.slice(0, cut);
    const last = left[rows.length - 1];
    const hasNext = last !== undefined && left.length > rows.length;
    const next = hasNext ? this.#cursorBehind(order, last) : null;
    const totalRows = query.hasTotal ? await this.count(table, { sinceTime }) : null;
    return { rows, totalRows, cursor: next } as RowsPage as PageOf<Query>;
  }

  async byKeys(table: Table, keys: readonly Row[], columns: RowColumns): Promise<readonly Row[]> {
    const wanted = new Map(keys.map((key) => [keyText(table, key), key]));
    const found = [...wanted.values()].map((key) => this.rowByKey(table, key));
    return found.filter((row) => row !== undefined).map((row) => shownRow(table, row, columns));
  }

  async count(table: Table, { sinceTime = null }: CountQuery = {}): Promise<number> {
    const rows = this.sortedRows(table);
    if (!this.uncountable.has(table.name)) return rows.length - sinceIndex(table, rows, sinceTime);
    throw new AppError("store_unavailable", `Table "${table.name}" cannot be counted`);
  }

  /** Every column of every row, in the order of the table. */
  sortedRows(table: Table): readonly Row[] {
    const stored = this.stored(table);
    stored.sorted ??= [...stored.rows.values()].sort((a, b) => compareRows(table, a, b));
    return stored.sorted;
  }

  /** Every column of the row with this key; undefined when there is none. */
  rowByKey(table: Table, key: Row): Row | undefined {
    return this.stored(table).rows.get(keyText(table, key));
  }

  async settled(): Promise<void> {}

  /** The tables as they are now. */
  moment(): TablesMoment {
    this.#shared = new Set(this.#tables.keys());
    return new Map(this.#tables);
  }

  /** Does in a commit what a body has done. */
  apply(changes: readonly TableChange[]): void {
    for (const { table, apply, before, after } of changes) {
      apply(this.own(table));
      this.#tell(table, before, after);
    }
  }

  /** Puts a row, as another program would: whatever the table's rules say. */
  writeOwn(table: Table, row: Row): void {
    const own = this.own(table);
    const before = this.rowByKey(table, row);
    const written = { ...(before ?? inserted(table, row, own)), ...row };
    putOwn(table, own, written, this.#clock.nowMs());
    this.#tell(table, before, written);
    this.onCommit([written], [table.name]);
  }

  /** Forgets all tables. */
  clear(): void {
    this.#tables.clear();
  }

  /** Removes a row, as another program would. */
  remove(table: Table, key: Row): void {
    const row = this.rowByKey(table, key);
    if (row === undefined) return;
    const own = this.own(table);
    const nowMs = this.#clock.nowMs();
    takeRow(table, own, key);
    const deletedAt = changeTime(rowTime(table, row), nowMs);
    if (table.deletes) bury(own, { key, deletedAt }, nowMs);
    this.#tell(table, row, undefined);
    this.onCommit([], [table.name]);
  }

  async ping(): Promise<void> {
    this.check();
  }

  async close(): Promise<void> {}

  /** The index of the first row of a page, but for `sinceTime`. */
  #firstIndex(order: Table, sorted: readonly Row[], from: PageStart, since: number): number {
    if ("offsetRows" in from) return since + from.offsetRows;
    const isAtCursor = "cursor" in from && from.cursor !== null;
    const place = isAtCursor
      ? this.#placeOf(order, from.cursor)
      : "after" in from
        ? from.after
        : "afterKey" in from
          ? from.afterKey
          : null;
    if (place === null) return 0;
    const index = rowIndex(order, sorted, place);
    const isThere = sorted[index] !== undefined && compareRows(order, sorted[index], place) === 0;
    return index + Number(isThere);
  }

  #cursorBehind({ timestampColumn }: Table, row: Row): string {
    const cursor = `${timestampColumn ?? ""}-${this.#places.size}`;
    this.#places.set(cursor, row);
    return cursor;
  }

  #placeOf({ timestampColumn }: Table, cursor: string): Row {
    const isOfOrder = cursor.startsWith(`${timestampColumn ?? ""}-`);
    return (isOfOrder ? this.#places.get(cursor) : undefined) ?? refuseCursor();
  }

  #tell(table: Table, ...rows: readonly (Row | undefined)[]): void {
    this.onRows(
      table,
      rows.filter((row) => row !== undefined),
    );
  }

  /** Throws `failure` while it is set. */
  check(): void {
    if (this.failure !== null) throw this.failure;
  }

  /** What is kept of a table, now or at a moment. */
  stored({ name }: Pick<Table, "name">, tables: TablesMoment = this.#tables): StoredTable {
    this.check();
    const stored = tables.get(name);
    if (stored === undefined) throw new Error(`Table "${name}" was not prepared`);
    return stored;
  }

  /** A table that no moment has, to be changed. */
  own(table: Pick<Table, "name">): StoredTable {
    const stored = this.stored(table);
    if (!this.#shared.delete(table.name)) return stored;
    const own = copyOf(stored);
    this.#tables.set(table.name, own);
    return own;
  }
}

/** Opens a store in memory with its tables made. */
export async function openMemoryTables(tables: Iterable<Table>): Promise<MemoryTables> {
  const storage = new MemoryTables(new FakeClock());
  await storage.prepare([...tables]);
  return storage;
}

function shownRow(table: Table, row: Row, columns: RowColumns): Row {
  const values = new Map(Object.entries(row));
  const names = columnsOf(table, columns).map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, values.get(name) ?? null]));
}

// A store in memory, as simple as the contract allows: the reference that real stores are compared with.
import { AppError } from "../../../src/domain/shared/errors.ts";
import { refuseCursor } from "../../../src/domain/shared/list-query.ts";
import { isOfPeople, personOf } from "../../../src/domain/sync/people/owned-row.ts";
import { PageSize } from "../../../src/domain/sync/rows/page-size.ts";
import { deletionTime } from "../../../src/domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import {
  type CountQuery,
  columnsOf,
  type PageOf,
  type PageStart,
  PreparedTables,
  type RowColumns,
  type RowsPage,
  type RowsQuery,
  type TableStore,
} from "../../../src/ports/tables/table-store.ts";
import type { RowWrite, WriteRule } from "../../../src/ports/tables/table-writes.ts";
import { FakeClock } from "../fake-clock.ts";
import { compareRows, keyText, rowIndex, sinceIndex, timestampOf } from "./row-order.ts";
import { insertedRow, preparedTable, type StoredTable, takeRow } from "./stored-table.ts";
import { TableWrite } from "./table-write.ts";
import { MemoryTombstones } from "./tombstones.ts";

/** Tables as they stood at one moment, by name. */
export type TablesMoment = ReadonlyMap<string, StoredTable>;

/** A call of `TableWrites`. */
export type TableCall =
  | { readonly table: Table; readonly writes: readonly RowWrite[]; readonly rule: WriteRule }
  | {
      readonly table: Table;
      readonly where: readonly [string, string];
      readonly fields: Row | null;
    };

/** Tables in memory. `failure` makes every call fail, as a broken store would. */
export class MemoryTables implements Storage, TableStore {
  readonly tombstones: MemoryTombstones;
  /** Thrown by every method while it is set. */
  failure: AppError | null = null;
  /** Names of tables whose rows cannot be counted. */
  readonly uncountable = new Set<string>();
  /** Why the store itself refuses a row; null when it takes it. */
  refuse: (table: Table, row: Row) => string | null = () => null;
  /** Called after every commit, with the rows that it put. */
  onCommit: (rows: readonly Row[]) => void = () => {};
  /** Called in every commit with the people whose rows it changes. */
  onPeople: (usernames: readonly string[]) => void = () => {};
  /** As they were last prepared. */
  readonly prepared = new Map<string, Table>();
  readonly #clock: Clock;
  /** By cursor, the last row of a part. */
  readonly #places = new Map<string, Row>();
  #tables = new Map<string, StoredTable>();
  /** Names of those that a moment has, too. */
  #shared = new Set<string>();

  /** `clock` is the store's own: ranks of times and tombstones go by it. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.tombstones = new MemoryTombstones(clock, (table, tombstone) => {
      const row = this.rowByKey(table, tombstone.key);
      const write = this.#write(table, this.#stored(table));
      return row !== undefined && !write.outlives(row, tombstone);
    });
  }

  get tables(): TableStore {
    return this;
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    this.check();
    const prepared = new Map(this.#tables);
    for (const table of tables) prepared.set(table.name, preparedTable(table, this.#tables));
    this.#tables = prepared;
    for (const table of tables) {
      this.tombstones.prepare(table);
      this.prepared.set(table.name, table);
    }
    return new PreparedTables(tables);
  }

  async page<Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>> {
    const { from, limitRows, maxJsonBytes = Number.POSITIVE_INFINITY, columns = "page" } = query;
    const order = "afterKey" in from ? { ...table, timestampColumn: null } : table;
    const stored = this.sortedRows(table);
    const sorted = order === table ? stored : stored.toSorted((a, b) => compareRows(order, a, b));
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
    const cursor = "cursor" in from && hasNext ? `part-${this.#places.size}` : null;
    if (cursor !== null && last !== undefined) this.#places.set(cursor, last);
    const totalRows = query.hasTotal ? sorted.length - since : null;
    return { rows, totalRows, cursor } as RowsPage as PageOf<Query>;
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
    const stored = this.#stored(table);
    stored.sorted ??= [...stored.rows.values()].sort((a, b) => compareRows(table, a, b));
    return stored.sorted;
  }

  /** Every column of the row with this key; undefined when there is none. */
  rowByKey(table: Table, key: Row): Row | undefined {
    return this.#stored(table).rows.get(keyText(table, key));
  }

  async settled(): Promise<void> {}

  /** The tables as they are now. */
  moment(): TablesMoment {
    this.#shared = new Set(this.#tables.keys());
    return new Map(this.#tables);
  }

  /** What calls would give at a moment, and the tables after them. */
  attempt(moment: TablesMoment, calls: readonly TableCall[]) {
    this.check();
    const tables = new Map(moment);
    const putBack = calls.map(({ table }) => {
      tables.set(table.name, copyOf(this.#stored(table, moment)));
      return this.tombstones.remember(table);
    });
    const outcomes = calls.map((call) => this.#do(call, this.#stored(call.table, tables)).outcome);
    for (const put of putBack.toReversed()) put();
    return { outcomes, tables };
  }

  /** Does calls as one commit. */
  apply(calls: readonly TableCall[]): void {
    for (const call of calls) {
      const { put, removed } = this.#do(call, this.#own(call.table));
      this.#tell(call.table, put, removed);
    }
  }

  /** Puts a row, as another program would: whatever the table's rules say. */
  writeOwn(table: Table, row: Row): void {
    const stored = this.#own(table);
    const existing = stored.rows.get(keyText(table, row)) ?? insertedRow(table, row, stored);
    const written = { ...existing, ...row };
    this.#write(table, stored).put(written);
    this.#tell(table, [written], [existing]);
  }

  /** Puts rows of another store, with the numbers that they have there. */
  fill(table: Table, rows: readonly Row[], lastNumber: number): void {
    const stored = this.#own(table);
    for (const row of rows) stored.rows.set(keyText(table, row), row);
    Object.assign(stored, { nextId: lastNumber + 1, sorted: null });
  }

  /** Forgets a table, its rows and its tombstones. */
  drop(tableName: string): void {
    this.#tables.delete(tableName);
    this.prepared.delete(tableName);
    this.tombstones.drop(tableName);
  }

  /** The last number that a row got. */
  lastNumber(table: Table): number {
    return this.#stored(table).nextId - 1;
  }

  /** Removes a row, as another program would. */
  remove(table: Table, key: Row): void {
    const row = this.rowByKey(table, key);
    if (row !== undefined && table.deletes) {
      const deletedAt = deletionTime(timestampOf(table, row), this.#clock.nowMs());
      this.tombstones.keep(table, { key, deletedAt });
    }
    this.erase(table, key);
  }

  /** Removes a row without a tombstone, as what a person's erasure removes. D-8.2. */
  erase(table: Table, key: Row): void {
    const stored = this.#own(table);
    const row = stored.rows.get(keyText(table, key));
    if (row !== undefined) takeRow(table, stored, row);
    this.#tell(table, [], row === undefined ? [] : [row]);
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
      ? (this.#places.get(from.cursor) ?? refuseCursor())
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

  #write(table: Table, stored: StoredTable): TableWrite {
    const { tombstones } = this;
    const refuse = (row: Row) => this.refuse(table, row);
    const place = { table, stored, tombstones, refuse };
    return new TableWrite({ ...place, nowMs: this.#clock.nowMs() });
  }

  #do(call: TableCall, stored: StoredTable) {
    const { table } = call;
    const write = this.#write(table, stored);
    if ("writes" in call) {
      const { written, put, removed } = write.all(call.writes, call.rule);
      return { outcome: written, put, removed };
    }
    const [column, value] = call.where;
    const known = ({ name }: { readonly name: string }) => Object.hasOwn(call.fields ?? {}, name);
    const given = table.columns
      .filter(known)
      .map(({ name }) => [name, call.fields?.[name] ?? null]);
    const isColumn = table.columns.some(({ name }) => name === column);
    const rows = [...stored.rows.values()].filter((row) => isColumn && row[column] === value);
    if (call.fields === null) this.tombstones.forgetWith(table, column, value);
    for (const row of rows) takeRow(table, stored, row);
    const put =
      call.fields === null ? [] : rows.map((row) => ({ ...row, ...Object.fromEntries(given) }));
    for (const row of put) write.put(row);
    return { outcome: rows.length, put, removed: rows };
  }

  #tell(table: Table, put: readonly Row[], removed: readonly Row[]): void {
    if (isOfPeople(table)) {
      this.onPeople([...put, ...removed].map(personOf).filter((name) => name !== null));
    }
    this.onCommit(put);
  }

  /** Throws `failure` while it is set. */
  check(): void {
    if (this.failure !== null) throw this.failure;
  }

  #stored(table: Table, tables: TablesMoment = this.#tables): StoredTable {
    this.check();
    const stored = tables.get(table.name);
    if (stored === undefined) throw new Error(`Table "${table.name}" was not prepared`);
    return stored;
  }

  /** A table that no moment has, to be changed. */
  #own(table: Table): StoredTable {
    const stored = this.#stored(table);
    if (!this.#shared.delete(table.name)) return stored;
    const own = copyOf(stored);
    this.#tables.set(table.name, own);
    return own;
  }
}

function copyOf(stored: StoredTable): StoredTable {
  return { ...stored, rows: new Map(stored.rows), sorted: null };
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

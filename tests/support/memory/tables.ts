// A store in memory, as simple as the contract allows: the reference that real stores are compared with.
import { AppError } from "../../../src/domain/shared/errors.ts";
import { compareUtf8, isRawNumber, numberText } from "../../../src/domain/shared/json.ts";
import {
  compareDateTimes,
  isCanonicalDateTime,
  parseDate,
  parseDateTime,
} from "../../../src/domain/shared/time.ts";
import type { Column, ColumnValue, Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { MarkerStore } from "../../../src/ports/runs/marker-store.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import {
  PreparedTables,
  type RowWrite,
  type StoredPage,
  type StoredPageQuery,
  type TableStore,
  type WriteFailure,
  type WriteOptions,
} from "../../../src/ports/tables/table-store.ts";

/** What is kept of one table. */
interface StoredTable {
  readonly shape: TableShape;
  /** Every column of every row, by the JSON text of the key. */
  rows: Map<string, Row>;
  nextId: number;
  /** The rows in order; null when that has to be found out anew. */
  sorted: Row[] | null;
}

/** What a later registry may not change while the table has rows. */
interface TableShape {
  readonly types: ReadonlyMap<string, string>;
  readonly keyNames: string;
}

/** Tables and markers in memory. `failure` makes every call fail, as a broken store would. */
export class MemoryTables implements Storage, TableStore, MarkerStore {
  /** Thrown by every method while it is set. */
  failure: AppError | null = null;
  /** Names of tables whose rows cannot be counted. */
  readonly uncountable = new Set<string>();
  /** Why the store itself refuses a row; null when it takes it. */
  refuse: (table: Table, row: Row) => string | null = () => null;
  /** Called after every commit, with the rows that it put. */
  onCommit: (rows: readonly Row[]) => void = () => {};
  #tables = new Map<string, StoredTable>();
  readonly #markers = new Map<string, string>();

  get tables(): TableStore {
    return this;
  }

  get markers(): MarkerStore {
    return this;
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    this.#check();
    const prepared = new Map(this.#tables);
    for (const table of tables) prepared.set(table.name, preparedTable(table, this.#tables));
    this.#tables = prepared;
    return new PreparedTables(tables);
  }

  async readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    const sorted = this.sortedRows(table);
    const since = sinceIndex(table, sorted, query.sinceTime);
    const from = since + query.offsetRows;
    const page = sorted.slice(from, from + query.limitRows);
    return { rows: page.map((row) => pageRow(table, row)), totalRows: sorted.length - since };
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

  async write(
    table: Table,
    writes: readonly RowWrite[],
    { markers = new Map(), beforeCommit }: WriteOptions = {},
  ): Promise<readonly WriteFailure[]> {
    beforeCommit?.();
    const stored = this.#stored(table);
    const failures: WriteFailure[] = [];
    const put: Row[] = [];
    for (const { index, row } of writes) {
      const message = this.refuse(table, row);
      if (message !== null) {
        failures.push({ index, message });
        continue;
      }
      const existing = stored.rows.get(keyText(table, row));
      const written =
        existing === undefined ? insertedRow(table, row, stored) : updatedRow(table, existing, row);
      if (putRow(table, stored, written)) put.push(written);
    }
    if (failures.length === 0) this.#setMarkers(markers);
    this.onCommit(put);
    return failures;
  }

  /** Puts a row, as another program would: whatever the table's rules say. */
  writeOwn(table: Table, row: Row): void {
    const stored = this.#stored(table);
    const existing = stored.rows.get(keyText(table, row)) ?? insertedRow(table, row, stored);
    const written = { ...existing, ...row };
    putRow(table, stored, written);
    this.onCommit([written]);
  }

  /** Removes a row, as another program would. */
  remove(table: Table, key: Row): void {
    const stored = this.#stored(table);
    stored.rows.delete(keyText(table, key));
    stored.sorted = null;
    this.onCommit([]);
  }

  async countRows(table: Table): Promise<number> {
    const stored = this.#stored(table);
    if (!this.uncountable.has(table.name)) return stored.rows.size;
    throw new AppError("store_unavailable", `Table "${table.name}" cannot be counted`);
  }

  async readAll(): Promise<ReadonlyMap<string, string>> {
    this.#check();
    return new Map([...this.#markers].filter(([, value]) => value !== ""));
  }

  async writeAll(markers: ReadonlyMap<string, string>): Promise<void> {
    this.#check();
    this.#setMarkers(markers);
    this.onCommit([]);
  }

  /** What a marker holds now; empty when it was never set. */
  marker(name: string): string {
    return this.#markers.get(name) ?? "";
  }

  async ping(): Promise<void> {
    this.#check();
  }

  async close(): Promise<void> {}

  #setMarkers(markers: ReadonlyMap<string, string>): void {
    for (const [name, value] of markers) this.#markers.set(name, value);
  }

  #check(): void {
    if (this.failure !== null) throw this.failure;
  }

  #stored(table: Table): StoredTable {
    this.#check();
    const stored = this.#tables.get(table.name);
    if (stored === undefined) throw new Error(`Table "${table.name}" was not prepared`);
    return stored;
  }
}

/** Opens a store in memory with its tables made. */
export async function openMemoryTables(tables: Iterable<Table>): Promise<MemoryTables> {
  const storage = new MemoryTables();
  await storage.prepare([...tables]);
  return storage;
}

/** D-2.4. */
function preparedTable(table: Table, known: ReadonlyMap<string, StoredTable>): StoredTable {
  const shape: TableShape = {
    types: new Map(table.columns.map((column) => [column.name, column.type])),
    keyNames: keyNames(table),
  };
  const existing = known.get(table.name);
  if (existing === undefined || existing.rows.size === 0) {
    return { shape, rows: new Map(), nextId: existing?.nextId ?? 1, sorted: null };
  }
  const problem = shapeProblem(table, existing.shape);
  if (problem !== null) {
    throw new AppError("schema_conflict", `Table "${table.name}": ${problem}; use a new table`);
  }
  const types = new Map([...existing.shape.types, ...shape.types]);
  return { ...existing, shape: { ...shape, types }, sorted: null };
}

function shapeProblem(table: Table, before: TableShape): string | null {
  if (before.keyNames !== keyNames(table)) {
    return `its rows have the upsert key ${before.keyNames}, not ${keyNames(table)}`;
  }
  for (const column of table.columns) {
    const type = before.types.get(column.name);
    if (type === undefined && !column.nullable) {
      return `the new column "${column.name}" must be nullable, as the table has rows`;
    }
    if (type !== undefined && type !== column.type) {
      return `column "${column.name}" is of type ${type}, not ${column.type}`;
    }
  }
  return null;
}

function keyNames(table: Table): string {
  return table.keyColumns.map((column) => column.name).join(", ");
}

function insertedRow(table: Table, row: Row, stored: StoredTable): Row {
  const values = table.columns.map((column): [string, ColumnValue] => {
    if (Object.hasOwn(row, column.name)) return [column.name, row[column.name] ?? null];
    return [column.name, column.autoIncrement ? stored.nextId++ : null];
  });
  return Object.fromEntries(values);
}

/** S-4.2.9, D-3.9. */
function updatedRow(table: Table, existing: Row, row: Row): Row {
  if (table.conflict === "newer") {
    const order = compareTimes(timestampOf(table, row), timestampOf(table, existing));
    if (order < 0) return existing;
  }
  const updated: Record<string, ColumnValue> = { ...existing };
  for (const { name } of table.updateColumns) {
    if (Object.hasOwn(row, name)) updated[name] = row[name] ?? null;
  }
  return updated;
}

/** Puts a row in its place; false when it is there as it is. */
function putRow(table: Table, stored: StoredTable, row: Row): boolean {
  const key = keyText(table, row);
  const before = stored.rows.get(key);
  if (before !== undefined && table.columns.every(({ name }) => before[name] === row[name])) {
    return false;
  }
  stored.rows.set(key, row);
  if (stored.sorted === null) return true;
  if (before !== undefined) stored.sorted.splice(rowIndex(table, stored.sorted, before), 1);
  stored.sorted.splice(rowIndex(table, stored.sorted, row), 0, row);
  return true;
}

/** How many rows in order stand before a position. */
export function rowIndex(table: Table, sorted: readonly Row[], position: Row): number {
  return firstIndex(sorted, (row) => compareRows(table, row, position) >= 0);
}

/** Where the rows at or after a canonical time begin; 0 for null and for tables without timestamps. */
export function sinceIndex(table: Table, sorted: readonly Row[], sinceTime: string | null): number {
  if (sinceTime === null || table.timestampColumn === null) return 0;
  return firstIndex(sorted, (row) => {
    const time = timestampOf(table, row);
    return time !== null && compareDateTimes(time, sinceTime) >= 0;
  });
}

function firstIndex(sorted: readonly Row[], isBehind: (row: Row) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBehind(sorted[middle] ?? {})) high = middle;
    else low = middle + 1;
  }
  return low;
}

function pageRow(table: Table, row: Row): Row {
  const values = new Map(Object.entries(row));
  return Object.fromEntries(table.pageColumns.map(({ name }) => [name, values.get(name) ?? null]));
}

/** One text per key. */
export function keyText(table: Table, row: Row): string {
  return JSON.stringify(table.keyColumns.map(({ name }) => row[name]));
}

/** Times that have been read; rows are never changed. */
const times = new WeakMap<Row, { readonly column: string; readonly time: string | null }>();

/** The timestamp as canonical text; null when it is null or unparseable. D-3.1. */
function timestampOf(table: Table, row: Row): string | null {
  const column = table.timestampColumn;
  if (column === null) return null;
  const known = times.get(row);
  if (known?.column === column) return known.time;
  const value = row[column];
  const time = typeof value === "string" ? parseDateTime(value) : null;
  times.set(row, { column, time });
  return time;
}

/** Orders rows as every store does. D-3.1. */
export function compareRows(table: Table, a: Row, b: Row): number {
  const byTime = compareTimes(timestampOf(table, a), timestampOf(table, b));
  if (byTime !== 0) return byTime;
  for (const column of table.keyColumns) {
    const order = compareValues(column, a[column.name] ?? null, b[column.name] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** Null comes first. */
function compareTimes(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareDateTimes(a, b);
}

/** Orders values of one key column: those of the column's type first, then the others by their JSON text. */
function compareValues(column: Column, a: ColumnValue, b: ColumnValue): number {
  const isTyped = [hasColumnType(column, a), hasColumnType(column, b)];
  if (isTyped[0] !== isTyped[1]) return isTyped[0] ? -1 : 1;
  if (!isTyped[0]) return compareUtf8(JSON.stringify(a), JSON.stringify(b));
  if (column.type === "boolean") return Number(a) - Number(b);
  if (column.type === "integer" || column.type === "bigint") {
    const difference = wholeValue(a) - wholeValue(b);
    return difference < 0n ? -1 : Number(difference > 0n);
  }
  if (column.type === "datetime") return compareDateTimes(String(a), String(b));
  return compareUtf8(String(a), String(b));
}

function hasColumnType(column: Column, value: ColumnValue): boolean {
  switch (column.type) {
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return (typeof value === "number" || isRawNumber(value)) && /^-?\d+$/.test(numberText(value));
    case "datetime":
      return typeof value === "string" && isCanonicalDateTime(value);
    case "date":
      return typeof value === "string" && parseDate(value) === value;
    default:
      return typeof value === "string";
  }
}

function wholeValue(value: ColumnValue): bigint {
  return BigInt(
    typeof value === "number" || isRawNumber(value) ? numberText(value) : String(value),
  );
}

// One table in memory: its rows, and what a later registry may change.
import { AppError } from "../../../src/domain/shared/errors.ts";
import type { ColumnValue, Row, Table } from "../../../src/domain/sync/table/table.ts";
import { keyText, rowIndex } from "./row-order.ts";

/** What is kept of one table. */
export interface StoredTable {
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

/** D-2.4. */
export function preparedTable(table: Table, known: ReadonlyMap<string, StoredTable>): StoredTable {
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
  return { ...numbered(table, existing), shape: { ...shape, types }, sorted: null };
}

/** Rows that came while the registry numbered none get numbers. */
function numbered(table: Table, existing: StoredTable): StoredTable {
  if (!table.columns.some(({ autoIncrement, isKey }) => autoIncrement && !isKey)) return existing;
  let { nextId } = existing;
  const rows = [...existing.rows].map(([key, row]) => {
    const id = row["id"] ?? nextId++;
    return [key, { ...row, id }] as const;
  });
  return { ...existing, rows: new Map(rows), nextId };
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

export function insertedRow(table: Table, row: Row, stored: StoredTable): Row {
  const values = table.columns.map((column): [string, ColumnValue] => {
    if (Object.hasOwn(row, column.name)) return [column.name, row[column.name] ?? null];
    return [column.name, column.autoIncrement ? stored.nextId++ : null];
  });
  return Object.fromEntries(values);
}

/** S-4.2.9. */
export function updatedRow(table: Table, existing: Row, row: Row): Row {
  const updated: Record<string, ColumnValue> = { ...existing };
  for (const { name } of table.updateColumns) {
    if (Object.hasOwn(row, name)) updated[name] = row[name] ?? null;
  }
  return updated;
}

/** Puts a row in its place. */
export function putRow(table: Table, stored: StoredTable, row: Row): void {
  const before = stored.rows.get(keyText(table, row));
  stored.rows.set(keyText(table, row), row);
  if (stored.sorted === null) return;
  if (before !== undefined) stored.sorted.splice(rowIndex(table, stored.sorted, before), 1);
  stored.sorted.splice(rowIndex(table, stored.sorted, row), 0, row);
}

/** Takes a row out of its place. */
export function takeRow(table: Table, stored: StoredTable, row: Row): void {
  stored.rows.delete(keyText(table, row));
  stored.sorted?.splice(rowIndex(table, stored.sorted, row), 1);
}

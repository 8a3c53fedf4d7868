// The order of rows, in the plainest code. D-3.1.
import { compareUtf8, isRawNumber, numberText } from "../../../src/domain/shared/json.ts";
import {
  compareDateTimes,
  isCanonicalDateTime,
  parseDate,
  parseDateTime,
} from "../../../src/domain/shared/time.ts";
import type { Column, ColumnValue, Row, Table } from "../../../src/domain/sync/table/table.ts";

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

/** One text per key. */
export function keyText(table: Table, row: Row): string {
  return JSON.stringify(table.keyColumns.map(({ name }) => row[name]));
}

/** Times that have been read; rows are never changed. */
const times = new WeakMap<Row, { readonly column: string; readonly time: string | null }>();

/** The timestamp as canonical text; null when it is null or unparseable. D-3.1. */
export function timestampOf(table: Table, row: Row): string | null {
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

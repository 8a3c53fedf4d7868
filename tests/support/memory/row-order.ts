// The order of rows, in the plainest code. D-3.1.
import { compareDateTimes } from "../../../src/domain/shared/time.ts";
import { compareKeys } from "../../../src/domain/sync/rows/row-key.ts";
import { rowTime } from "../../../src/domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";

/** How many rows in order stand before a position. */
export function rowIndex(table: Table, sorted: readonly Row[], position: Row): number {
  return firstIndex(sorted, (row) => compareRows(table, row, position) >= 0);
}

/** Where the rows at or after a canonical time begin; 0 for null and for tables without timestamps. */
export function sinceIndex(table: Table, sorted: readonly Row[], sinceTime: string | null): number {
  if (sinceTime === null || table.timestampColumn === null) return 0;
  return firstIndex(sorted, (row) => {
    const time = rowTime(table, row);
    return time !== null && compareDateTimes(time, sinceTime) >= 0;
  });
}

/** Orders rows as every store does. */
export function compareRows(table: Table, a: Row, b: Row): number {
  const [x, y] = [rowTime(table, a), rowTime(table, b)];
  const byTime =
    x === null || y === null ? Number(x !== null) - Number(y !== null) : compareDateTimes(x, y);
  return byTime === 0 ? compareKeys(table, a, b) : byTime;
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

// Rows by the value of a column or by key, within a transaction.
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { columnOf, type Row, type Table } from "../../../domain/sync/table/table.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import { boundValues, decodeRows, readColumns, valueEncoder } from "./column-values.ts";
import { leaveNoTombstones } from "./tombstone-writes.ts";

/** Whole rows with one of the values; none in a table without the column. */
export function readRowsBy(
  work: SqliteWork,
  table: Table,
  [columnName, values]: readonly [string, readonly string[]],
): Row[] {
  const column = columnOf(table, columnName);
  if (column === null) return [];
  const sql = `${selectWhole(work, table)} WHERE ${isValue(columnName)}`;
  const encode = valueEncoder(column);
  return [...new Set(values)].flatMap((value) =>
    decodeRows(work.all(sql, [encode(value)]), table.columns),
  );
}

/** Whole rows with the keys, each once. */
export function readRowsWithKeys(work: SqliteWork, table: Table, keys: readonly Row[]): Row[] {
  const isKey = table.keyColumns.map(({ name }) => `[${name}] = ?`).join(" AND ");
  const sql = `${selectWhole(work, table)} WHERE ${isKey}`;
  const wanted = new Map(keys.map((key) => [keyText(table, key), key]));
  return [...wanted.values()].flatMap((key) =>
    decodeRows(work.all(sql, boundValues(table.keyColumns, key)), table.columns),
  );
}

function selectWhole({ cutsTextAtNul }: SqliteWork, table: Table): string {
  return `SELECT ${readColumns(table.columns, cutsTextAtNul)} FROM "${table.name}"`;
}

/** Changes those of the fields that the table has. */
export function changeRowsBy(
  work: SqliteWork,
  table: Table,
  [columnName, value]: readonly [string, string],
  fields: Row,
): void {
  const column = columnOf(table, columnName);
  const given = table.columns.filter(({ name }) => Object.hasOwn(fields, name));
  if (column === null || given.length === 0) return;
  const set = given.map(({ name }, i) => `"${name}" = ?${i + 2}`).join(", ");
  const sql = `UPDATE "${table.name}" SET ${set} WHERE ${isValue(columnName)}`;
  work.run(sql, [valueEncoder(column)(value), ...boundValues(given, fields)]);
}

/** Removes the rows, without tombstones. D-7.6, D-8.2. */
export function removeRowsBy(
  work: SqliteWork,
  table: Table,
  [columnName, value]: readonly [string, string],
): void {
  const column = columnOf(table, columnName);
  if (column === null) return;
  const encoded = valueEncoder(column)(value);
  const sql = `DELETE FROM "${table.name}" WHERE ${isValue(columnName)}`;
  const rows = readRowsBy(work, table, [columnName, [value]]);
  const remove = () => work.run(sql, [encoded]);
  leaveNoTombstones(work, table, [columnName, encoded], { rows, remove });
}

/** Compares bytes, whatever collation another tool gave the column; an index serves the first comparison. */
function isValue(columnName: string): string {
  return `[${columnName}] = ?1 AND [${columnName}] COLLATE BINARY = ?1`;
}

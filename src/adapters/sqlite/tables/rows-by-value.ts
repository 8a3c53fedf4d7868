// Rows of a table by a value that they have in a column, or by their keys, within a transaction.
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { columnOf, type Row, type Table } from "../../../domain/sync/table/table.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import { boundValues, decodeRows, readColumns, valueEncoder } from "./column-values.ts";
import { leaveNoTombstones } from "./tombstone-writes.ts";

/** Every row with one of these values in a column, whole; none in a table without the column. */
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

/** The rows with these keys, whole, each once. */
export function readRowsWithKeys(work: SqliteWork, table: Table, keys: readonly Row[]): Row[] {
  const isKey = table.keyColumns.map(({ name }) => `"${name}" = ?`).join(" AND ");
  const sql = `${selectWhole(work, table)} WHERE ${isKey}`;
  const wanted = new Map(keys.map((key) => [keyText(table, key), key]));
  return [...wanted.values()].flatMap((key) =>
    decodeRows(work.all(sql, boundValues(table.keyColumns, key)), table.columns),
  );
}

function selectWhole({ cutsTextAtNul }: SqliteWork, table: Table): string {
  return `SELECT ${readColumns(table.columns, cutsTextAtNul)} FROM "${table.name}"`;
}

/** Changes the given fields, as far as the table has such columns. */
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
  leaveNoTombstones(work, table, [columnName, encoded], () => work.run(sql, [encoded]));
}

/** Bytes tell, whatever the collation that another tool gave the column; an index serves the first comparison. */
function isValue(columnName: string): string {
  return `"${columnName}" = ?1 AND "${columnName}" COLLATE BINARY = ?1`;
}

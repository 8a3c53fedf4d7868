// Rows by the value of a column, within a transaction or a snapshot.
import { type Db, MongoServerError } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { columnOf, type Row, type Table } from "../../../domain/sync/table/table.ts";
import type { TxOptions } from "../driver/operations.ts";
import {
  forgetForGood,
  forgetTombstonesOf,
  noteOwnDeletes,
} from "../driver/tombstone-documents.ts";
import { storeValue } from "./column-values.ts";
import { RowReader } from "./row-reader.ts";
import { layoutOf, projectionOf } from "./table-layout.ts";
import { REFUSALS } from "./upsert-sender.ts";
import { storedFields } from "./upserts.ts";

/** Rows of a message, usually all. */
const ROWS_AT_ONCE = 10_000;

/** Whole rows with one of the values; none in a table without the column. */
export async function readRowsBy(
  db: Db,
  table: Table,
  [columnName, values]: readonly [string, readonly string[]],
  options: TxOptions,
): Promise<Row[]> {
  const column = columnOf(table, columnName);
  if (column === null || values.length === 0) return [];
  const projection = projectionOf(table.columns);
  const $in = values.map((value) => storeValue(column, value));
  const found: unknown[] = await db
    .collection(table.name)
    .find({ [columnName]: { $in } }, { ...options, projection, raw: true, batchSize: ROWS_AT_ONCE })
    .toArray();
  const reader = new RowReader(layoutOf(table), table.columns);
  return (found as Uint8Array[]).map((bytes) => reader.read(bytes));
}

/** Changes those of the fields that the table has, and gives the number of rows. Throws `invalid_request`. */
export async function changeRowsBy(
  db: Db,
  table: Table,
  [columnName, value]: readonly [string, string],
  { fields, ...options }: TxOptions & { readonly fields: Row },
): Promise<number> {
  const column = columnOf(table, columnName);
  const $set = storedFields(table, fields);
  if (column === null || Object.keys($set).length === 0) return 0;
  const filter = { [columnName]: storeValue(column, value) };
  try {
    const { matchedCount } = await db.collection(table.name).updateMany(filter, { $set }, options);
    return matchedCount;
  } catch (error) {
    const message =
      error instanceof MongoServerError ? REFUSALS.get(Number(error.code)) : undefined;
    throw message === undefined ? error : new AppError("invalid_request", message);
  }
}

/** Removes rows without tombstones, and gives their number. D-7.6, D-8.2. */
export async function removeRowsBy(
  db: Db,
  table: Table,
  [columnName, value]: readonly [string, string],
  options: TxOptions,
): Promise<number> {
  const column = columnOf(table, columnName);
  if (column === null) return 0;
  // Another instance may record deletes of the table, or have recorded them.
  await noteOwnDeletes(db, options.session);
  const text = JSON.stringify({ [columnName]: value }).slice(1, -1);
  const forget = table.deletes ? forgetForGood : forgetTombstonesOf;
  await forget(db, { table: table.name, text }, options.session);
  const filter = { [columnName]: storeValue(column, value) };
  return (await db.collection(table.name).deleteMany(filter, options)).deletedCount;
}

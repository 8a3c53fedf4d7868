// Stored rows by key or by the value of a column, in a snapshot or transaction.
import { type ClientSession, type Db, type Document, MongoServerError } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { FoundRow } from "../../../domain/sync/rows/write-decision.ts";
import { type Column, columnOf, type Row, type Table } from "../../../domain/sync/table/table.ts";
import { cutBatches } from "../driver/collections.ts";
import { beginTurns } from "../driver/deadline.ts";
import type { StoreDeps } from "../driver/operations.ts";
import {
  forgetForGood,
  forgetTombstonesOf,
  noteOwnDeletes,
} from "../driver/tombstone-documents.ts";
import { storeValue } from "./column-values.ts";
import { RowReader } from "./row-reader.ts";
import { hintOf } from "./table-indexes.ts";
import { layoutOf, projectionOf, storedKey } from "./table-layout.ts";
import { assertThere } from "./table-states.ts";
import { REFUSALS } from "./upsert-sender.ts";
import { storedFields, type Upsert } from "./upserts.ts";

/** Alternatives of one command, whose time grows faster than their number. */
const MAX_CLAUSES = 250;
const MAX_BYTES = 8 * 1024 * 1024;
/** Keys whose commands are made in one turn. */
const KEYS_AT_ONCE = { maxItems: 5_000 };

export type KeyOfRow = Pick<Upsert, "row" | "keyText" | "filter">;

/** Stored rows by the text of their key; `columns` include those of the key. */
export async function findStored(
  { db, clock }: Pick<StoreDeps, "db" | "clock">,
  table: Table,
  { keys, columns }: { readonly keys: readonly KeyOfRow[]; readonly columns: readonly Column[] },
  tx: ClientSession,
): Promise<Map<string, FoundRow>> {
  const turns = beginTurns(clock);
  const reader = new RowReader(layoutOf(table), columns);
  const rows = new Map<string, FoundRow>();
  const asked = new Set(keys.map((key) => key.keyText));
  const options = {
    session: tx,
    projection: projectionOf(columns),
    hint: hintOf(db, table, layoutOf(table).keyIndex),
    // Usually one message.
    batchSize: KEYS_AT_ONCE.maxItems + 1,
    raw: true,
  };
  for (const filter of keyFilters(table, keys)) {
    const found: unknown[] = await db.collection(table.name).find(filter, options).toArray();
    for (const document of found as Uint8Array[]) {
      if (turns.isOver) await turns.next();
      const row = reader.read(document);
      const text = keyText(table, row);
      // A list of another program answers for each of its values.
      if (asked.has(text)) rows.set(text, { row, time: rowTime(table, row) });
    }
  }
  return rows;
}

export async function removeStored(
  db: Db,
  table: Table,
  keys: readonly KeyOfRow[],
  tx: ClientSession,
): Promise<void> {
  const hint = hintOf(db, table, layoutOf(table).keyIndex);
  for (const filter of keyFilters(table, keys)) {
    await db.collection(table.name).deleteMany(filter, { hint, session: tx });
  }
}

export function keyOfRow(table: Table, row: Row): KeyOfRow {
  return { row, keyText: keyText(table, row), filter: storedKey(table, row) };
}

/** Conditions that find the rows of keys, one a command. */
function* keyFilters(table: Table, all: readonly KeyOfRow[]): Generator<Document> {
  for (const keys of cutBatches(all, KEYS_AT_ONCE)) {
    const clauses = groupKeys(table, keys).flatMap(({ shared, listed, keys: group }) =>
      cutBatches(group, { maxBytes: MAX_BYTES, bytesOf: bytesOfKey }).map((batch) => {
        const $in = batch.map(({ filter }) => filter[listed]);
        const bytes = batch.reduce((sum, key) => sum + bytesOfKey(key), 0);
        return { condition: { ...shared, [listed]: { $in } }, bytes };
      }),
    );
    const bytesOf = ({ bytes }: (typeof clauses)[number]) => bytes;
    const limits = { maxItems: MAX_CLAUSES, maxBytes: MAX_BYTES, bytesOf };
    for (const batch of cutBatches(clauses, limits)) {
      yield { $or: batch.map(({ condition }) => condition) };
    }
  }
}

/** Groups keys by all columns but the last. Where that makes many groups, all but the first may make fewer. */
function groupKeys(table: Table, keys: readonly KeyOfRow[]) {
  const names = table.keyColumns.map(({ name }) => name);
  const byLast = groupBy(names.slice(0, -1), names.at(-1) ?? "", keys);
  if (byLast.length <= MAX_CLAUSES) return byLast;
  const byFirst = groupBy(names.slice(1), names[0] ?? "", keys);
  return byFirst.length < byLast.length ? byFirst : byLast;
}

/** Groups of keys that share the named columns and differ in the listed one. */
function groupBy(names: readonly string[], listed: string, keys: readonly KeyOfRow[]) {
  const groups = Map.groupBy(keys, ({ row }) => JSON.stringify(names.map((name) => row[name])));
  return Array.from(groups.values(), (group) => {
    const shared = Object.fromEntries(names.map((name) => [name, group[0]?.filter[name]]));
    return { shared, listed, keys: group };
  });
}

/** An upper estimate. */
function bytesOfKey({ keyText: text }: KeyOfRow): number {
  return 100 + 3 * text.length;
}

/** Rows of a message, usually all. */
const ROWS_AT_ONCE = 10_000;

/** Whole rows with one of the values; none in a table without the column. */
export async function readRowsBy(
  db: Db,
  table: Table,
  [columnName, values]: readonly [string, readonly string[]],
  tx: ClientSession,
): Promise<Row[]> {
  const column = columnOf(table, columnName);
  if (column === null || values.length === 0) return [];
  const filter = { [columnName]: { $in: values.map((value) => storeValue(column, value)) } };
  const projection = projectionOf(table.columns);
  const options = { session: tx, projection, raw: true, batchSize: ROWS_AT_ONCE };
  const found: unknown[] = await db.collection(table.name).find(filter, options).toArray();
  const reader = new RowReader(layoutOf(table), table.columns);
  return (found as Uint8Array[]).map((bytes) => reader.read(bytes));
}

/**
 * Changes those of the fields that the table has, or for null removes rows without tombstones, and gives the number of rows. Throws
 * `invalid_request`. D-7.6, D-8.2.
 */
export async function changeRowsBy(
  db: Db,
  table: Table,
  [columnName, value]: readonly [string, string],
  { fields, tx }: { readonly fields: Row | null; readonly tx: ClientSession },
): Promise<number> {
  const column = columnOf(table, columnName);
  if (column === null) return 0;
  await assertThere(db, table.name);
  const rows = db.collection(table.name);
  const filter = { [columnName]: storeValue(column, value) };
  const options = { session: tx };
  if (fields === null) {
    // Another instance may record deletes of the table, or have recorded them.
    await noteOwnDeletes(db, tx);
    const text = JSON.stringify({ [columnName]: value }).slice(1, -1);
    const forget = table.deletes ? forgetForGood : forgetTombstonesOf;
    await forget(db, { table: table.name, text }, tx);
    return (await rows.deleteMany(filter, options)).deletedCount;
  }
  const $set = storedFields(table, fields);
  if (Object.keys($set).length === 0) return 0;
  try {
    return (await rows.updateMany(filter, { $set }, options)).matchedCount;
  } catch (error) {
    const message =
      error instanceof MongoServerError ? REFUSALS.get(Number(error.code)) : undefined;
    throw message === undefined ? error : new AppError("invalid_request", message);
  }
}

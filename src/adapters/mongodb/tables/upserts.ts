// Records as upserts by key.
import { BSON, type Document, type Long } from "mongodb";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { changedColumns } from "../../../domain/sync/rows/write-decision.ts";
import type { Column, ColumnValue, Row, Table } from "../../../domain/sync/table/table.ts";
import type { Steps } from "../../../ports/runtime/turns.ts";
import type { RowWrite, WriteFailure } from "../../../ports/tables/table-writes.ts";
import { hashOf } from "../driver/versions.ts";
import { type StoredValue, storeTime, storeValue } from "./column-values.ts";
import { KEY_TIME_FIELD, layoutOf, storedKey, UNPARSED_FIELD } from "./table-layout.ts";

/** Bytes of an upsert, and of its document: MongoDB's 16 MiB less room for what is around them. */
const MAX_UPSERT_BYTES = 16 * 1024 * 1024 - 1024;
/** Upper estimates for an upsert without its fields, and for a field without its text. */
const UPSERT_BYTES = 200;
const FIELD_BYTES = 80;
/** Upserts are sorted in parts by so many bits of their hashes. */
const PART_BITS = 8;

export interface Upsert extends RowWrite {
  /** Equal for records with the same key. */
  readonly keyText: string;
  /** The canonical time; null without one. */
  readonly time: string | null;
  readonly estimatedBytes: number;
  readonly filter: Document;
  readonly update: Document;
  /** The document of a new row. */
  readonly document: Document;
}

interface HashedUpsert {
  readonly hash: number;
  readonly upsert: Upsert;
}

/** Upserts in the order of sending, and records that are not sent. */
export interface UpsertPlan {
  readonly upserts: readonly Upsert[];
  /** True when a key occurs twice: upserts then take effect one after the other. */
  readonly ordered: boolean;
  readonly failures: readonly WriteFailure[];
}

/**
 * Turns records into upserts, sorted by a hash of the key. So all instances lock rows in one order; and the keys that a failed
 * transaction leaves in the unique index are not neighbours: a look-up steps over each, so that in key order 5,000 records take 16 s
 * after one aborted try instead of 0.9 s. New rows get numbers later. One step per record.
 */
export function* planUpserts(table: Table, writes: readonly RowWrite[]): Steps<UpsertPlan> {
  const failures: WriteFailure[] = [];
  /** By the first bits of the hashes of keys. */
  const parts = new Map<number, HashedUpsert[]>();
  const keys = new Set<string>();
  for (const write of writes) {
    yield;
    const { index } = write;
    const upsert = makeUpsert(table, write);
    if (isTooLarge(upsert)) {
      failures.push({ index, message: "The row is larger than the 16 MiB that MongoDB can store" });
      continue;
    }
    keys.add(upsert.keyText);
    const hash = hashOf(upsert.keyText);
    parts.getOrInsertComputed(hash >>> (32 - PART_BITS), () => []).push({ hash, upsert });
  }
  const upserts = yield* inOrder(parts);
  return { upserts, ordered: keys.size < upserts.length, failures };
}

/** The record with another time. */
export function withTime(table: Table, upsert: Upsert, time: string): Upsert {
  const row = { ...upsert.row, [table.timestampColumn ?? ""]: time };
  return makeUpsert(table, { ...upsert, row });
}

/** Without the columns that are as they were: another program may have written them with other BSON types. With its time, to be found by. */
export function onlyChanges(table: Table, upsert: Upsert, before: Row): Upsert {
  const changed = new Set(changedColumns(table, upsert.row, before));
  if (upsert.time !== null) changed.add(table.timestampColumn ?? "");
  const columnOf = (field: string) => (field === UNPARSED_FIELD ? table.timestampColumn : field);
  const fields = Object.entries(upsert.update["$set"]);
  const $set = Object.fromEntries(fields.filter(([name]) => changed.has(columnOf(name) ?? "")));
  return { ...upsert, update: { ...upsert.update, $set } };
}

/** The upsert of a row that is not there: a list of another program in its key, which answers for each of its values, is no such row. */
export function ofNoList(upsert: Upsert): Upsert {
  const values = Object.entries(upsert.filter);
  const $not = { $type: "array" };
  const filter = Object.fromEntries(values.map(([name, $eq]) => [name, { $eq, $not }]));
  return { ...upsert, filter };
}

/** True for a record that may be new. */
export function mayInsert({ refused, refusedIfNew }: Upsert): boolean {
  return refused === undefined && refusedIfNew === undefined;
}

export function setNumber({ update, document }: Upsert, id: Long): void {
  update["$setOnInsert"] = { ...update["$setOnInsert"], id };
  document["id"] = id;
}

type Fields = Record<string, StoredValue | Document>;

/** Stored form of the columns that the row has. */
export function storedFields(table: Table, row: Row): Readonly<Fields> {
  const fields: Fields = {};
  for (const column of table.columns) {
    if (!Object.hasOwn(row, column.name)) continue;
    const value = row[column.name] ?? null;
    if (column.isKey) {
      fields[column.name] = storeValue(column, value);
      const isTime = column.name === table.timestampColumn;
      if (isTime) fields[KEY_TIME_FIELD] = storeTime(column, value);
    } else addValue(fields, table, column, value);
  }
  return fields;
}

function makeUpsert(table: Table, write: RowWrite): Upsert {
  const { row } = write;
  const filter = storedKey(table, row);
  const { timeField, updateNames } = layoutOf(table);
  const changed: Fields = {};
  const inserted: Fields = {};
  for (const column of table.pushColumns) {
    if (column.isKey) continue;
    const isGiven = Object.hasOwn(row, column.name);
    const target = isGiven && updateNames.has(column.name) ? changed : inserted;
    addValue(target, table, column, isGiven ? (row[column.name] ?? null) : null);
  }
  const time = table.keyColumns.find(({ name }) => name === table.timestampColumn);
  if (timeField === KEY_TIME_FIELD && time !== undefined) {
    inserted[KEY_TIME_FIELD] = storeTime(time, row[time.name]);
  }
  return {
    ...write,
    keyText: keyText(table, row),
    time: rowTime(table, row),
    estimatedBytes: [filter, changed, inserted].reduce(addBytes, UPSERT_BYTES),
    filter,
    update: { $set: changed, $setOnInsert: inserted },
    document: { ...filter, ...changed, ...inserted },
  };
}

/** The timestamp column orders rows: a value that cannot be parsed is null there, and its text is kept beside it. */
function addValue(target: Fields, table: Table, column: Column, value: ColumnValue): void {
  if (column.name !== table.timestampColumn) {
    target[column.name] = storeValue(column, value);
    return;
  }
  const time = storeTime(column, value);
  target[column.name] = time;
  if (time === null) {
    // An empty document replaces a text that an earlier write left.
    target[UNPARSED_FIELD] = value === null ? {} : { [column.name]: JSON.stringify(value) };
  }
}

function addBytes(sum: number, fields: Fields): number {
  let bytes = sum;
  for (const value of Object.values(fields)) {
    bytes += FIELD_BYTES;
    if (typeof value === "string") bytes += 3 * value.length;
    else if (typeof value === "object" && value !== null) bytes += nestedBytes(value);
  }
  return bytes;
}

/** The texts one level down, in the JSON of a value that does not fit its column. */
function nestedBytes(value: object): number {
  let bytes = 0;
  for (const text of Object.values(value)) if (typeof text === "string") bytes += 3 * text.length;
  return bytes;
}

function isTooLarge({ estimatedBytes, filter, update }: Upsert): boolean {
  if (estimatedBytes <= MAX_UPSERT_BYTES) return false;
  return BSON.calculateObjectSize({ filter, update }) > MAX_UPSERT_BYTES;
}

/** Upserts by hash, equal hashes in the order of arrival. One step per part. */
function* inOrder(parts: ReadonlyMap<number, HashedUpsert[]>): Steps<Upsert[]> {
  const upserts: Upsert[] = [];
  for (let bits = 0; bits < 2 ** PART_BITS; bits++) {
    const part = parts.get(bits);
    if (part === undefined) continue;
    for (const { upsert } of part.sort((a, b) => a.hash - b.hash)) upserts.push(upsert);
    yield;
  }
  return upserts;
}

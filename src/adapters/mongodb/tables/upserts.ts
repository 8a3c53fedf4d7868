// Records of a write as upserts by the key columns, and the batches in which they are sent.
import { BSON, type Document, type Long } from "mongodb";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Column, ColumnValue, Row, Table } from "../../../domain/sync/table/table.ts";
import type { Steps } from "../../../ports/runtime/turns.ts";
import type { RowWrite, WriteFailure } from "../../../ports/tables/table-writes.ts";
import { cutBatches } from "../driver/collections.ts";
import { hashOf } from "../driver/versions.ts";
import { type StoredValue, storeTime, storeValue } from "./column-values.ts";
import { KEY_TIME_FIELD, layoutOf, storedKey, UNPARSED_FIELD } from "./table-layout.ts";

/** Bytes that an upsert, and the document it makes, may have: MongoDB's 16 MiB less room for what goes around it. */
const MAX_UPSERT_BYTES = 16 * 1024 * 1024 - 1024;
/**
 * Limits of a batch. Bytes are far enough below those at which the driver would make two commands of one `bulkWrite`:
 * 16 MiB. They are the upper estimate; an upsert that is larger by itself is a batch of its own.
 */
const MAX_BATCH_BYTES = 12 * 1024 * 1024;
/** Few enough that the driver has one ready in one turn. */
const MAX_BATCH_UPSERTS = 1_000;
/** Upper estimates of the bytes of an upsert without its fields, and of a field without its text. */
const UPSERT_BYTES = 200;
const FIELD_BYTES = 80;
/** Upserts are sorted in parts by so many bits of their hashes. */
const PART_BITS = 8;

/** A record that is ready to be sent. */
export interface Upsert {
  /** Position of the record in the request, for failures. */
  readonly index: number;
  /** The record. */
  readonly row: Row;
  /** Equal for records with the same key. */
  readonly keyText: string;
  /** The record's canonical time; null when it has none. */
  readonly time: string | null;
  /** As in `RowWrite`. */
  readonly refusedIfNew: string | undefined;
  readonly estimatedBytes: number;
  /** The stored values of all key columns, which select the row. */
  readonly filter: Document;
  readonly update: Document;
  /** The whole document of a new row. */
  readonly document: Document;
}

interface HashedUpsert {
  readonly hash: number;
  readonly upsert: Upsert;
}

/** The upserts of a write in the order of sending, and the records that are not sent. */
export interface UpsertPlan {
  readonly upserts: readonly Upsert[];
  /** True when a key occurs twice: then the upserts take effect one after the other. */
  readonly ordered: boolean;
  readonly failures: readonly WriteFailure[];
}

/**
 * Turns records into upserts, without numbers of new rows. They are sorted by a hash of the key. So all instances lock rows in one order; and the keys that a failed
 * transaction leaves in the unique index are not neighbours: MongoDB steps over each of them in a look-up, so that in key
 * order 5,000 records take 16 s after one aborted try, instead of 0.9 s. A step for each record.
 */
export function* planUpserts(table: Table, writes: readonly RowWrite[]): Steps<UpsertPlan> {
  const failures: WriteFailure[] = [];
  /** Upserts by the first bits of the hashes of their keys. */
  const parts = new Map<number, HashedUpsert[]>();
  const keys = new Set<string>();
  for (const { index, row, refusedIfNew } of writes) {
    yield;
    const upsert = { index, refusedIfNew, ...makeUpsert(table, row) };
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

/** The upsert of the same record with another time. */
export function withTime(table: Table, upsert: Upsert, time: string): Upsert {
  const { index, row, refusedIfNew } = upsert;
  const timed = makeUpsert(table, { ...row, [table.timestampColumn ?? ""]: time });
  return { index, refusedIfNew, ...timed };
}

/** Gives the upsert of a new row its number. */
export function setNumber({ update, document }: Upsert, id: Long): void {
  update["$setOnInsert"] = { ...update["$setOnInsert"], id };
  document["id"] = id;
}

/** Cuts upserts into batches, in order. The `bulkWrite` of a batch is one command. */
export function cutUpserts(upserts: readonly Upsert[]): Upsert[][] {
  return cutBatches(upserts, {
    maxItems: MAX_BATCH_UPSERTS,
    maxBytes: MAX_BATCH_BYTES,
    bytesOf: ({ estimatedBytes }) => estimatedBytes,
  });
}

type Fields = Record<string, StoredValue | Document>;

/** Stored form of the columns present in `row`, for a partial update; others are ignored. */
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

function makeUpsert(table: Table, row: Row): Omit<Upsert, "index" | "refusedIfNew"> {
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
    row,
    keyText: keyText(table, row),
    time: rowTime(table, row),
    estimatedBytes: [filter, changed, inserted].reduce(addBytes, UPSERT_BYTES),
    filter,
    update: { $set: changed, $setOnInsert: inserted },
    document: { ...filter, ...changed, ...inserted },
  };
}

/** The timestamp column orders rows, so what cannot be parsed is null there and keeps its text beside it. */
function addValue(target: Fields, table: Table, column: Column, value: ColumnValue): void {
  if (column.name !== table.timestampColumn) {
    target[column.name] = storeValue(column, value);
    return;
  }
  const time = storeTime(column, value);
  target[column.name] = time;
  if (time === null) {
    // An empty one takes the place of a text that an earlier write left.
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

/** Texts one level down: the JSON text of a verbatim value. */
function nestedBytes(value: object): number {
  let bytes = 0;
  for (const text of Object.values(value)) if (typeof text === "string") bytes += 3 * text.length;
  return bytes;
}

function isTooLarge({ estimatedBytes, filter, update }: Upsert): boolean {
  if (estimatedBytes <= MAX_UPSERT_BYTES) return false;
  return BSON.calculateObjectSize({ filter, update }) > MAX_UPSERT_BYTES;
}

/** The upserts of all parts by their hashes, those of equal hashes in the order in which they were added. A step for each part. */
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

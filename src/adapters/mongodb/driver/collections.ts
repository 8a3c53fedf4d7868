// Collections of repsync's own, batches for writing to them, and numbers that all instances share.
import {
  type Collection,
  type Db,
  type FindOneAndUpdateOptions,
  type FindOptions,
  type IndexDescription,
  Long,
} from "mongodb";
import { orNull } from "./errors.ts";

const NAMESPACE_EXISTS = 48;

/** The write concern of every write, whatever the URL says: on the disks of a majority. */
export const DURABLE = { w: "majority", j: true } as const;

export interface InternalCollection {
  /** Starts with `repsync_`. */
  readonly name: string;
  readonly indexes?: readonly (IndexDescription & { readonly name: string })[];
}

/** Makes missing collections and indexes. Idempotent, and safe for several instances at once. */
export async function makeCollections(
  db: Db,
  collections: readonly InternalCollection[],
): Promise<void> {
  await Promise.all(collections.map((collection) => makeCollection(db, collection)));
}

async function makeCollection(db: Db, { name, indexes = [] }: InternalCollection): Promise<void> {
  await createCollection(db, name);
  if (indexes.length === 0) return;
  // The default waits for every member, even one that is down.
  await db.collection(name).createIndexes([...indexes], { commitQuorum: "majority" });
}

/** Makes a missing collection. Transactions cannot, and need it. */
export async function createCollection(db: Db, name: string): Promise<void> {
  await orNull(db.createCollection(name), NAMESPACE_EXISTS);
}

/** The limits of a batch; a single larger item is a batch of its own. */
interface BatchLimits<T> {
  readonly maxItems?: number;
  readonly maxBytes?: number;
  readonly bytesOf?: (item: T) => number;
}

/** Cuts items into batches in order, none of them empty. */
export function cutBatches<T>(
  items: readonly T[],
  { maxItems, maxBytes = Number.POSITIVE_INFINITY, bytesOf = () => 0 }: BatchLimits<T>,
): T[][] {
  const batches: T[][] = [];
  let batch: T[] = [];
  let batchBytes = 0;
  for (const item of items) {
    const bytes = bytesOf(item);
    const isFull = batch.length === maxItems || batchBytes + bytes > maxBytes;
    if (batch.length === 0 || isFull) {
      batch = [];
      batchBytes = 0;
      batches.push(batch);
    }
    batch.push(item);
    batchBytes += bytes;
  }
  return batches;
}

/** Numbers that are given once: ids of new rows in numbered tables, and places of tombstones. */
export const COUNTERS: InternalCollection = { name: "repsync_counters" };

interface CounterDocument {
  /** The name of a table, or of another counter. */
  readonly _id: string;
  readonly last: Long;
}

/**
 * Takes the next `count` numbers and returns the first, 1 or more. In a transaction numbers follow the order of commits without gaps,
 * and others wait for its end. Outside of one nobody waits, and numbers may be left out.
 */
export async function takeNumbers(
  db: Db,
  name: string,
  count: number,
  options: Pick<FindOneAndUpdateOptions, "session"> = {},
): Promise<Long> {
  const counter = await countersOf(db).findOneAndUpdate(
    { _id: name },
    { $inc: { last: Long.fromNumber(count) } },
    { ...options, upsert: true, returnDocument: "after", promoteLongs: false },
  );
  if (counter === null) throw new Error("An upsert gave no document back");
  return counter.last.subtract(count - 1);
}

/** Excludes the numbers up to `last`. */
export async function reserveNumbers(db: Db, name: string, last: Long): Promise<void> {
  await countersOf(db).updateOne({ _id: name }, { $max: { last } }, { upsert: true });
}

/** The number taken last, 0 before the first. */
export async function lastNumber(db: Db, name: string, options: FindOptions): Promise<number> {
  const counter = await countersOf(db).findOne({ _id: name }, options);
  return Number(counter?.last ?? 0);
}

function countersOf(db: Db): Collection<CounterDocument> {
  return db.collection(COUNTERS.name);
}

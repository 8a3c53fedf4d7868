// Numbers that are given once: of new rows in tables with an auto-incrementing `id`, and of places in the lists of tombstones.
import {
  type Collection,
  type Db,
  type FindOneAndUpdateOptions,
  type FindOptions,
  Long,
} from "mongodb";
import type { InternalCollection } from "./collections.ts";

/** The counters, by name of the table or of a collection of repsync's own. */
export const COUNTERS: InternalCollection = { name: "repsync_counters" };

interface CounterDocument {
  /** Table name. */
  readonly _id: string;
  /** The greatest number that was taken. */
  readonly last: Long;
}

/**
 * Takes the next `count` numbers and returns the first of them, 1 or more. In a transaction the numbers follow the order of
 * commits, without gaps, and others wait for its end. Outside of one nobody waits, and numbers may be left out.
 */
export async function takeNumbers(
  db: Db,
  name: string,
  count: number,
  options: Pick<FindOneAndUpdateOptions, "session"> = {},
): Promise<Long> {
  const counter = await collectionOf(db).findOneAndUpdate(
    { _id: name },
    { $inc: { last: Long.fromNumber(count) } },
    { ...options, upsert: true, returnDocument: "after", promoteLongs: false },
  );
  if (counter === null) throw new Error("An upsert gave no document back");
  return counter.last.subtract(count - 1);
}

/** Makes sure that the numbers up to `last` are never taken. */
export async function reserveNumbers(db: Db, name: string, last: Long): Promise<void> {
  await collectionOf(db).updateOne({ _id: name }, { $max: { last } }, { upsert: true });
}

/** The number that `takeNumbers` gave last, 0 before the first. */
export async function lastNumber(db: Db, name: string, options: FindOptions): Promise<number> {
  const counter = await collectionOf(db).findOne({ _id: name }, options);
  return Number(counter?.last ?? 0);
}

function collectionOf(db: Db): Collection<CounterDocument> {
  return db.collection(COUNTERS.name);
}

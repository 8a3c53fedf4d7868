// Numbers that are given once: ids of new rows in numbered tables, and places of tombstones.
import {
  type Collection,
  type Db,
  type FindOneAndUpdateOptions,
  type FindOptions,
  Long,
} from "mongodb";
import type { InternalCollection } from "./collections.ts";

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
  const counter = await collectionOf(db).findOneAndUpdate(
    { _id: name },
    { $inc: { last: Long.fromNumber(count) } },
    { ...options, upsert: true, returnDocument: "after", promoteLongs: false },
  );
  if (counter === null) throw new Error("An upsert gave no document back");
  return counter.last.subtract(count - 1);
}

/** Excludes the numbers up to `last`. */
export async function reserveNumbers(db: Db, name: string, last: Long): Promise<void> {
  await collectionOf(db).updateOne({ _id: name }, { $max: { last } }, { upsert: true });
}

/** The number taken last, 0 before the first. */
export async function lastNumber(db: Db, name: string, options: FindOptions): Promise<number> {
  const counter = await collectionOf(db).findOne({ _id: name }, options);
  return Number(counter?.last ?? 0);
}

function collectionOf(db: Db): Collection<CounterDocument> {
  return db.collection(COUNTERS.name);
}

// Numbers for auto-incrementing `id` columns: each push takes a range that no other push gets.
import {
  type ClientSession,
  type Collection,
  type Db,
  type FindOptions,
  Long,
  MongoServerSelectionError,
} from "mongodb";
import { DURABLE, type InternalCollection } from "./collections.ts";
import { type Deadline, retry } from "./deadline.ts";
import { isPassing } from "./errors.ts";

/** The counters, by name of the table or of a collection of repsync's own. */
export const COUNTERS: InternalCollection = { name: "repsync_counters" };

const GIVE_BACK_TRIES = 3;

interface CounterDocument {
  /** Table name. */
  readonly _id: string;
  /** The greatest number that was taken. */
  readonly last: Long;
}

/** Consecutive numbers of one table. */
export interface IdRange {
  readonly tableName: string;
  readonly first: Long;
  readonly count: number;
}

export class IdCounters {
  readonly #collection: Collection<CounterDocument>;

  constructor(db: Db) {
    this.#collection = collectionOf(db);
  }

  /** Takes the next `count` numbers, durably, before any row is written with one of them. */
  async take(tableName: string, count: number, deadline: Deadline): Promise<IdRange> {
    const options = {
      upsert: true,
      returnDocument: "after",
      promoteLongs: false,
      writeConcern: DURABLE,
    } as const;
    const counter = await retry(deadline, () =>
      this.#collection.findOneAndUpdate(
        { _id: tableName },
        { $inc: { last: Long.fromNumber(count) } },
        options,
      ),
    );
    if (counter === null) throw new Error("An upsert gave no document back");
    return { tableName, first: counter.last.subtract(count - 1), count };
  }

  /**
   * Gives back all but the first `usedCount` numbers of a range, unless more were taken since. Never fails, nor waits for
   * an election: a gap in the numbers does no harm.
   */
  async giveBack(
    { tableName, first, count }: IdRange,
    usedCount: number,
    deadline: Deadline,
  ): Promise<void> {
    if (usedCount === count) return;
    for (let tries = 1; tries <= GIVE_BACK_TRIES; tries++) {
      try {
        const giving = this.#collection.updateOne(
          { _id: tableName, last: first.add(count - 1) },
          { $set: { last: first.add(usedCount - 1) } },
        );
        await deadline.race(giving);
        return;
      } catch (error) {
        if (!isPassing(error) || error instanceof MongoServerSelectionError) return;
      }
    }
  }

  /** Makes sure that the numbers up to `last` are never taken. */
  async reserve(tableName: string, last: Long): Promise<void> {
    await this.#collection.updateOne(
      { _id: tableName },
      { $max: { last } },
      { upsert: true, writeConcern: DURABLE },
    );
  }
}

/**
 * Takes the next `count` numbers of a collection of repsync's own, within the caller's transaction, and returns the
 * first of them, 1 or more. So numbers are in the order of commits, without gaps.
 */
export async function takeNumbers(
  db: Db,
  name: string,
  count: number,
  tx: ClientSession,
): Promise<number> {
  const counter = await collectionOf(db).findOneAndUpdate(
    { _id: name },
    { $inc: { last: Long.fromNumber(count) } },
    { upsert: true, returnDocument: "after", session: tx },
  );
  if (counter === null) throw new Error("An upsert gave no document back");
  return Number(counter.last) - count + 1;
}

/** The number that `takeNumbers` gave last, 0 before the first. */
export async function lastNumber(db: Db, name: string, options: FindOptions): Promise<number> {
  const counter = await collectionOf(db).findOne({ _id: name }, options);
  return Number(counter?.last ?? 0);
}

function collectionOf(db: Db): Collection<CounterDocument> {
  return db.collection(COUNTERS.name);
}

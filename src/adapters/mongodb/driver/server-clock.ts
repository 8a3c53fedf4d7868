// The server's time, which all instances share.
import type { AggregateOptions, Collection, Db, Document } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { InternalCollection } from "./collections.ts";

/** One document: the read of the time begins there, and joins other reads. */
export const TIME: InternalCollection = { name: "repsync_time" };

const TIME_ID = "now";

export interface TimeSource {
  readonly db: Db;
  readonly storeClock: StoreClock;
}

/** Null for the server's time; tests have clocks of their own. */
export type StoreClock = Pick<Clock, "nowMs"> | null;

/** The time in a filter or pipeline. */
export function nowExpression(clock: StoreClock): "$$NOW" | Date {
  return clock === null ? "$$NOW" : new Date(clock.nowMs());
}

export async function prepareTime(db: Db): Promise<void> {
  const once = { $setOnInsert: { _id: TIME_ID } };
  await timeCollection(db).updateOne({ _id: TIME_ID }, once, { upsert: true });
}

/** Reads the time and what the stages join, in one message. Throws `store_unavailable` when the document of `TIME` is missing. */
export async function readTimed<Joined>(
  { db, storeClock }: TimeSource,
  joins: readonly Document[],
  options: AggregateOptions,
): Promise<Joined & { readonly nowMs: number }> {
  const now = { $set: { now: nowExpression(storeClock) } };
  const stages = [{ $match: { _id: TIME_ID } }, ...joins, now];
  const [found] = await timeCollection(db).aggregate(stages, options).toArray();
  if (found === undefined) throw new AppError("store_unavailable", "MongoDB tells no time");
  return { ...(found as Joined), nowMs: (found["now"] as Date).getTime() };
}

/** Reads the time alone, outside of transactions. */
export async function readNowMs({ db, storeClock }: TimeSource): Promise<number> {
  if (storeClock !== null) return storeClock.nowMs();
  const { localTime } = await db.command({ hello: 1 });
  return (localTime as Date).getTime();
}

function timeCollection(db: Db): Collection<{ readonly _id: string }> {
  return db.collection(TIME.name);
}

// The time of sessions and lookups: that of the server, the same for all instances.
import type { AggregateOptions, Collection, Db, Document } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import { DURABLE, type InternalCollection } from "./collections.ts";

/** One document, which whatever asks for the time is joined to. */
export const TIME: InternalCollection = { name: "repsync_time" };

const TIME_ID = "now";

interface TimeDocument {
  readonly _id: string;
}

/** Where the time comes from: the server, or in tests a clock that they set. */
export type StoreClock = Pick<Clock, "nowMs"> | null;

/** The time as an expression of a filter or pipeline. */
export function nowExpression(clock: StoreClock): "$$NOW" | Date {
  return clock === null ? "$$NOW" : new Date(clock.nowMs());
}

/** Puts the document of `TIME` where `readTimed` finds it. */
export async function prepareTime(db: Db): Promise<void> {
  const once = { $setOnInsert: { _id: TIME_ID } };
  await timeCollection(db).updateOne({ _id: TIME_ID }, once, {
    upsert: true,
    writeConcern: DURABLE,
  });
}

/**
 * Reads the time with what stages of an aggregation join to it, all of one moment within a transaction or snapshot, in
 * one message.
 */
export async function readTimed<Joined>(
  { db, storeClock }: { readonly db: Db; readonly storeClock: StoreClock },
  joins: readonly Document[],
  options: AggregateOptions,
): Promise<Joined & { readonly nowMs: number }> {
  const stages = timedStages(storeClock, joins);
  return timedOf<Joined>(await timeCollection(db).aggregate(stages, options).toArray());
}

/** Stages that read the time with what others join to it; they have to begin in the collection `TIME`. */
export function timedStages(storeClock: StoreClock, joins: readonly Document[]): Document[] {
  return [{ $match: { _id: TIME_ID } }, ...joins, { $set: { now: nowExpression(storeClock) } }];
}

/** What `timedStages` have read, among documents of another kind. Throws `store_unavailable` when it is not there. */
export function timedOf<Joined>(
  documents: readonly Document[],
): Joined & { readonly nowMs: number } {
  const found = documents.find((one) => one["_id"] === TIME_ID);
  if (found === undefined) throw new AppError("store_unavailable", "MongoDB tells no time");
  return { ...(found as Joined), nowMs: (found["now"] as Date).getTime() };
}

function timeCollection(db: Db): Collection<TimeDocument> {
  return db.collection(TIME.name);
}

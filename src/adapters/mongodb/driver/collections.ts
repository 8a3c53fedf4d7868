// Collections of repsync's own, and how documents are put into them.
import type { Db, IndexDescription } from "mongodb";
import { hasCode } from "./errors.ts";

/** Server codes. */
const NAMESPACE_EXISTS = 48;

/** The write concern of every write, whatever the URL says: a majority of the members has it on disk. */
export const DURABLE = { w: "majority", j: true } as const;

/** A collection of repsync's own, beside those of the registry's tables. */
export interface InternalCollection {
  /** Starts with `repsync_`. */
  readonly name: string;
  readonly indexes?: readonly (IndexDescription & { readonly name: string })[];
}

/** A condition for ids that begin with a name and a slash. */
export function idsUnder(name: string) {
  // "0" is the character after the slash.
  return { $gte: `${name}/`, $lt: `${name}0` };
}

/** Makes what is missing. Idempotent, and safe when several instances do it at once. */
export async function makeCollections(
  db: Db,
  collections: readonly InternalCollection[],
): Promise<void> {
  await Promise.all(collections.map((collection) => makeCollection(db, collection)));
}

async function makeCollection(db: Db, { name, indexes = [] }: InternalCollection): Promise<void> {
  await createCollection(db, name);
  if (indexes.length === 0) return;
  // The default waits for all members, also for one that is down.
  await db.collection(name).createIndexes([...indexes], { commitQuorum: "majority" });
}

/** Makes a collection unless it exists. Transactions must find it: making one would fail them. */
export async function createCollection(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name);
  } catch (error) {
    if (!hasCode(error, NAMESPACE_EXISTS)) throw error;
  }
}

/** The most that one batch holds. A single item may be larger. */
interface BatchLimits<T> {
  readonly maxItems: number;
  readonly maxBytes: number;
  bytesOf(item: T): number;
}

/** Cuts items into batches that fit a message, in order. No batch is empty. */
export function cutBatches<T>(items: readonly T[], limits: BatchLimits<T>): T[][] {
  const batches: T[][] = [];
  let batch: T[] = [];
  let batchBytes = 0;
  for (const item of items) {
    const bytes = limits.bytesOf(item);
    const isFull = batch.length === limits.maxItems || batchBytes + bytes > limits.maxBytes;
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

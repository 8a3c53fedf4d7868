// Collections of repsync's own, and batches for writing to them.
import type { Db, IndexDescription } from "mongodb";
import { hasCode } from "./errors.ts";

const NAMESPACE_EXISTS = 48;

/** The write concern of every write, whatever the URL says: on the disks of a majority. */
export const DURABLE = { w: "majority", j: true } as const;

export interface InternalCollection {
  /** Starts with `repsync_`. */
  readonly name: string;
  readonly indexes?: readonly (IndexDescription & { readonly name: string })[];
}

/** Selects ids that begin with a name and a slash. */
export function idsUnder(name: string) {
  // "0" follows the slash in ASCII.
  return { $gte: `${name}/`, $lt: `${name}0` };
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
  try {
    await db.createCollection(name);
  } catch (error) {
    if (!hasCode(error, NAMESPACE_EXISTS)) throw error;
  }
}

/** The limits of a batch; a single larger item is a batch of its own. */
interface BatchLimits<T> {
  readonly maxItems: number;
  readonly maxBytes: number;
  bytesOf(item: T): number;
}

/** Cuts items into batches in order, none of them empty. */
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

import type { Collection, Db, IndexDescription } from "mongodb";
import { createCollection, dropIndex } from "./table-preparer.ts";

/** A collection of repsync's own, besides those of the registry's tables. */
export interface InternalCollection {
  /** Starts with `repsync_`. */
  readonly name: string;
  readonly indexes?: readonly (IndexDescription & { readonly name: string })[];
  /** Names of those that earlier versions made. */
  readonly formerIndexes?: readonly string[];
}

/** Makes what is missing. Idempotent, and safe when several instances do it at once. */
export async function makeCollections(
  db: Db,
  collections: readonly InternalCollection[],
): Promise<void> {
  await Promise.all(collections.map((collection) => makeCollection(db, collection)));
}

async function makeCollection(
  db: Db,
  { name, indexes = [], formerIndexes = [] }: InternalCollection,
): Promise<void> {
  await createCollection(db, name);
  await dropIndexes(db.collection(name), formerIndexes);
  if (indexes.length === 0) return;
  // By default MongoDB waits for every member, also for one that is down.
  await db.collection(name).createIndexes([...indexes], { commitQuorum: "majority" });
}

/** Only where there are such, as dropping one waits for everybody's transactions. */
async function dropIndexes(collection: Collection, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const found = await collection.indexes();
  for (const { name = "" } of found) if (names.includes(name)) await dropIndex(collection, name);
}

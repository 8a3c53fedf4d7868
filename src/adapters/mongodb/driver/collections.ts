import type { Db, IndexDescription } from "mongodb";
import { DURABLE } from "./durable.ts";
import { hasCode } from "./errors.ts";

/** Server code of a collection that is already there. */
const NAMESPACE_EXISTS = 48;

/** A collection of repsync's own, besides those of the registry's tables. */
export interface InternalCollection {
  /** Starts with `repsync_`. */
  readonly name: string;
  readonly indexes?: readonly (IndexDescription & { readonly name: string })[];
}

/** A condition for ids that begin with a name and a slash. */
export interface IdBounds {
  readonly $gte: string;
  readonly $lt: string;
}

/** The ids that begin with a name and a slash. */
export function idsUnder(name: string): IdBounds {
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
  // By default MongoDB waits for every member, also for one that is down.
  await db.collection(name).createIndexes([...indexes], { commitQuorum: "majority" });
}

/** Makes a collection unless it is there. A transaction must not have to. */
export async function createCollection(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name, { writeConcern: DURABLE });
  } catch (error) {
    if (!hasCode(error, NAMESPACE_EXISTS)) throw error;
  }
}

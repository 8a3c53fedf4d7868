// Batches of lookups write blocks of audit records, heads of their chains, and counts of calls. All are documents of one
// collection, because a message writes to one collection only, and each message costs a tenth of a batch. Their ids differ:
// `<chain>/<place>`, `head/<chain>` and `usage/<account>`; ids of chains are hexadecimal.
import type { ClientSession, Collection, Db, Document } from "mongodb";
import { type IdBounds, type InternalCollection, idsUnder } from "./collections.ts";

/** The documents by id. */
export const LOOKUP_LOG: InternalCollection = {
  name: "repsync_lookup_log",
  indexes: [
    {
      // Not unique, as a sharded collection cannot have it: the chain count is written with each number.
      name: "repsync_chain_number",
      key: { chainNumber: 1 },
      partialFilterExpression: { chainNumber: { $exists: true } },
    },
  ],
};

/** A kind of documents other than blocks, by the prefix of their ids. */
interface LogKind {
  readonly prefix: string;
  /** A condition for the ids of all of them. */
  readonly ids: IdBounds;
}

/** Signed heads, by chain. */
export const HEADS = kindOf("head");
/** Counts of calls, by account id. */
export const USAGES = kindOf("usage");

/** A document that a batch adds, or replaces. */
export interface LogWrite {
  /** Finds the present document; it has at least the `_id`. */
  readonly filter: Document & { readonly _id: string };
  readonly replacement: Document;
  /** Whether the document must be missing; otherwise it must exist. */
  readonly isNew: boolean;
}

export function lookupLogOf<Stored extends Document>(db: Db): Collection<Stored> {
  return db.collection<Stored>(LOOKUP_LOG.name);
}

export function logId({ prefix }: LogKind, name: string): string {
  return `${prefix}${name}`;
}

/** The kind of a document; null for a block, and for an id that repsync did not make. */
export function kindOfId(id: string): LogKind | null {
  return [HEADS, USAGES].find(({ prefix }) => id.startsWith(prefix)) ?? null;
}

export function nameInLog({ prefix }: LogKind, id: string): string {
  return id.slice(prefix.length);
}

/**
 * Makes writes in one message, within the caller's transaction. False when a document was not as its filter says: then the
 * caller has to abort the transaction.
 */
export async function writeLookupLog(
  db: Db,
  writes: readonly LogWrite[],
  tx: ClientSession,
): Promise<boolean> {
  const operations = writes.map(({ filter, replacement, isNew }) => {
    return { replaceOne: { filter, replacement, upsert: isNew } };
  });
  const options = { session: tx, ordered: true };
  const log = lookupLogOf<{ readonly _id: string }>(db);
  const { matchedCount, upsertedCount } = await log.bulkWrite(operations, options);
  const news = writes.filter(({ isNew }) => isNew).length;
  return upsertedCount === news && matchedCount === writes.length - news;
}

function kindOf(word: string): LogKind {
  return { prefix: `${word}/`, ids: idsUnder(word) };
}

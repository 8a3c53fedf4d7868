// What batches of lookups write: blocks of audit records, heads of their chains, and counts of calls. All are documents of
// one collection, as a message writes to one collection only, and each message costs a tenth of a batch. Ids tell them
// apart: `<chain>/<place>`, `head/<chain>` and `usage/<account>`; ids of chains are hexadecimal.
import type { ClientSession, Collection, Db, Document } from "mongodb";
import { type IdBounds, type InternalCollection, idsUnder } from "./collections.ts";

/** The documents by id. */
export const LOOKUP_LOG: InternalCollection = {
  name: "repsync_lookup_log",
  indexes: [
    {
      name: "repsync_number",
      key: { chainNumber: 1 },
      unique: true,
      partialFilterExpression: { chainNumber: { $exists: true } },
    },
  ],
};

/** Documents of one kind beside the blocks, by what their ids begin with. */
export interface LogKind {
  readonly prefix: string;
  /** A condition for the ids of all of them. */
  readonly ids: IdBounds;
}

/** Signed heads, by chain. */
export const HEADS = kindOf("head");
/** Counts of calls, by account id. */
export const USAGES = kindOf("usage");

/** A document that a batch puts in place of another, or adds. */
export interface LogWrite {
  /** What the present document is found by; it has at least the `_id`. */
  readonly filter: Document & { readonly _id: string };
  readonly replacement: Document;
  /** Whether the document must not be there yet; else it must. */
  readonly isNew: boolean;
}

/** The documents of a store, as those of one kind. */
export function lookupLogOf<Stored extends Document>(db: Db): Collection<Stored> {
  return db.collection<Stored>(LOOKUP_LOG.name);
}

/** The id of a document of a kind. */
export function logId({ prefix }: LogKind, name: string): string {
  return `${prefix}${name}`;
}

/** The kind of a document; null for a block, and for an id that repsync did not make. */
export function kindOfId(id: string): LogKind | null {
  return [HEADS, USAGES].find(({ prefix }) => id.startsWith(prefix)) ?? null;
}

/** What a document of a kind is named by. */
export function nameInLog({ prefix }: LogKind, id: string): string {
  return id.slice(prefix.length);
}

/**
 * Makes writes in one message, within a transaction. False when a document was not in the state that it had to be in; then
 * the transaction has to be given up.
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

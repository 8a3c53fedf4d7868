// What batches of lookups write: blocks of audit records, heads of their chains, and counts of accounts. All are documents
// of one collection, as a message writes to one collection only, and each message costs a tenth of a batch. Ids tell them
// apart: `<chain>/<place>`, `head/<chain>` and `usage/<account>`; ids of chains are hexadecimal.
import type { Collection, Db, Document } from "mongodb";
import type { InternalCollection } from "./collections.ts";
import { DURABLE } from "./durable.ts";
import { type IdRange, idsUnder } from "./id-range.ts";

/** The documents by id. */
export const LEDGER: InternalCollection = {
  name: "repsync_ledger",
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
export interface LedgerKind {
  readonly prefix: string;
  /** A condition for the ids of all of them. */
  readonly ids: IdRange;
}

/** Signed heads, by chain. */
export const HEADS = kindOf("head");
/** Counts, by account id. */
export const USAGES = kindOf("usage");

/** Collections that earlier versions kept each kind in, and what their ids lack. */
const FORMER = [
  { name: "repsync_usage", prefix: USAGES.prefix },
  { name: "repsync_audit_heads", prefix: HEADS.prefix },
  { name: "repsync_audit", prefix: "" },
];

/** The documents of a store, as those of one kind. */
export function ledgerOf<Stored extends Document>(db: Db): Collection<Stored> {
  return db.collection<Stored>(LEDGER.name);
}

/** The id of a document of a kind. */
export function ledgerId({ prefix }: LedgerKind, name: string): string {
  return `${prefix}${name}`;
}

/** The kind of a document; null for a block, and for what is none of ours. */
export function kindOfId(id: string): LedgerKind | null {
  return [HEADS, USAGES].find(({ prefix }) => id.startsWith(prefix)) ?? null;
}

/** What a document of a kind is named by. */
export function nameInLedger({ prefix }: LedgerKind, id: string): string {
  return id.slice(prefix.length);
}

/** Moves what earlier versions kept in collections of their own. May be done twice, and by several instances at once. */
export async function moveFormerLedger(db: Db): Promise<void> {
  const isFormer = { name: { $in: FORMER.map(({ name }) => name) } };
  const found = await db.listCollections(isFormer, { nameOnly: true }).toArray();
  const names = new Set(found.map(({ name }) => name));
  for (const { name, prefix } of FORMER.filter((former) => names.has(former.name))) {
    const isText = { $eq: [{ $type: "$_id" }, "string"] };
    const _id = { $cond: [isText, { $concat: [prefix, "$_id"] }, "$_id"] };
    const into = { into: LEDGER.name, whenMatched: "keepExisting", whenNotMatched: "insert" };
    const stages = [{ $set: { _id } }, { $merge: into }];
    await db.collection(name).aggregate(stages, { writeConcern: DURABLE }).toArray();
    await db.dropCollection(name, { writeConcern: DURABLE });
  }
}

function kindOf(word: string): LedgerKind {
  return { prefix: `${word}/`, ids: idsUnder(word) };
}

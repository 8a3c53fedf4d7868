// Tombstones as documents, read and changed within the caller's transaction. D-7.6.
import type { ClientSession, Collection, Db, Long, UUID } from "mongodb";
import { recordKey } from "../../../domain/sync/rows/row-key.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { cutBatches, type InternalCollection } from "./collections.ts";
import { takeNumbers } from "./id-counters.ts";
import { nowExpression, type TimeSource } from "./server-clock.ts";

/** A tombstone per key of a table. */
export const TOMBSTONES: InternalCollection = {
  name: "repsync_tombstones",
  indexes: [{ name: "repsync_place", key: { table: 1, place: 1 } }],
};

export interface TombstoneDocument {
  /** The table's name, a slash, the key's text. */
  readonly _id: string;
  readonly table: string;
  /** Counts tombstones in the order in which they became visible: the number is taken in their commit. */
  readonly place: number;
  /** The key columns as JSON. */
  readonly key: string;
  /** Canonical. */
  readonly deletedAt: string;
  /** The time at which it was taken in, or listed anew. */
  readonly takenAt: Date;
}

/** The most keys that one command names. */
const BATCH = { maxItems: 10_000, maxBytes: 8 * 1024 * 1024 };

/** The `deletedAt` of those of the keys that have a tombstone, by `keyText`. */
export async function findTombstones(
  db: Db,
  table: Table,
  keyTexts: Iterable<string>,
  tx: ClientSession,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  // Most tables have none at most times, which is quickly known.
  const any = { session: tx, projection: { _id: 1 } } as const;
  if ((await tombstonesOf(db).findOne({ table: table.name }, any)) === null) return found;
  const options = { session: tx, projection: { deletedAt: 1 }, batchSize: BATCH.maxItems + 1 };
  for (const $in of idBatches(table, keyTexts)) {
    const documents = await tombstonesOf(db).find({ _id: { $in } }, options).toArray();
    for (const { _id, deletedAt } of documents)
      found.set(_id.slice(table.name.length + 1), deletedAt);
  }
  return found;
}

/** Puts tombstones at the end of the list, in this order, in the place of what their keys had. */
export async function listTombstones(
  { db, storeClock }: TimeSource,
  table: Table,
  tombstones: readonly Tombstone[],
  tx: ClientSession,
): Promise<void> {
  if (tombstones.length === 0) return;
  const first = await takeNumbers(db, counterOf(table), tombstones.length, { session: tx });
  let place = first.toNumber();
  const takenAt = nowExpression(storeClock);
  const updates = tombstones.map(({ key, deletedAt }) => {
    // A pipeline, for the server's time: no text in it begins with a dollar sign, which would name a field.
    const fields = { table: table.name, key: keyJson(table, key), deletedAt };
    const update = [{ $set: { ...fields, place: place++, takenAt } }];
    const filter = { _id: idOf(table, keyText(table, key)) };
    return { updateOne: { filter, update, upsert: true } };
  });
  await tombstonesOf(db).bulkWrite(updates, { session: tx, ordered: false });
}

/** Forgets the tombstones of keys, given by `keyText`. */
export async function forgetTombstones(
  db: Db,
  table: Table,
  keyTexts: Iterable<string>,
  tx: ClientSession,
): Promise<void> {
  for (const $in of idBatches(table, keyTexts)) {
    await tombstonesOf(db).deleteMany({ _id: { $in } }, { session: tx });
  }
}

/** The key columns of a row as a tombstone has them. */
export function keyJson(table: Table, row: Row): string {
  return JSON.stringify(recordKey(table, row));
}

/** A value that no tombstone's key is to have. */
export interface ForgottenValue {
  readonly table: string;
  /** The column and its value as in the JSON of a key, where the quotation marks within a value are escaped. */
  readonly text: string;
}

/** Forgets the tombstones of a table whose keys have a value. D-8.2. */
export async function forgetTombstonesOf(
  db: Db,
  { table, text }: ForgottenValue,
  tx: ClientSession,
): Promise<void> {
  const names = { $gte: [{ $indexOfBytes: ["$key", text] }, 0] };
  await tombstonesOf(db).deleteMany({ table, $expr: names }, { session: tx });
}

export function tombstonesOf(db: Db): Collection<TombstoneDocument> {
  return db.collection(TOMBSTONES.name);
}

/** The name of the counter that gives places. */
export function counterOf(table: Pick<Table, "name">): string {
  return `${TOMBSTONES.name}/${table.name}`;
}

function idBatches(table: Table, keyTexts: Iterable<string>): string[][] {
  const ids = Array.from(keyTexts, (text) => idOf(table, text));
  return cutBatches(ids, { ...BATCH, bytesOf: (id) => 3 * id.length + 20 });
}

function idOf(table: Table, text: string): string {
  return `${table.name}/${text}`;
}

// Deletes by repsync itself, which leave no tombstone: of rows whose tombstone arrived in the same commit, and of an erased
// person. Their transactions are noted, as the recorder learns of deletes by their events, which name the transaction.

/** A document per transaction, until the recorder has passed it. */
export const OWN_DELETES: InternalCollection = { name: "repsync_own_deletes" };

interface OwnDeletes {
  /** The name that `transactionName()` makes. */
  readonly _id: string;
  readonly at: Date;
}

/** Tells the recorder, by the change stream alone, what to forget: rows may have been deleted before that it has not seen yet. */
export interface ForgetNote {
  readonly forgets: ForgottenValue;
}

/** Notes that no delete of this transaction leaves a tombstone. */
export async function noteOwnDeletes(db: Db, tx: ClientSession): Promise<void> {
  const { id, txnNumber } = tx.serverSession;
  const _id = transactionName(id.id.toUUID(), txnNumber);
  const noted = [{ $set: { at: "$$NOW" } }];
  await ownDeletesOf(db).updateOne({ _id }, noted, { upsert: true, session: tx });
}

/** Forgets the tombstones of a table whose keys have a value, and those of rows that were deleted before this commit. D-8.2. */
export async function forgetForGood(
  db: Db,
  forgets: ForgottenValue,
  tx: ClientSession,
): Promise<void> {
  await forgetTombstonesOf(db, forgets, tx);
  const notes = db.collection<ForgetNote>(OWN_DELETES.name);
  const { insertedId: _id } = await notes.insertOne({ forgets }, { session: tx });
  // The stream has it, and no document keeps the value.
  await notes.deleteOne({ _id }, { session: tx });
}

/** The name of a transaction, from what a change event and its session have. */
export function transactionName(session: UUID, txnNumber: number | Long): string {
  return `${session.toHexString()}/${txnNumber.toString()}`;
}

export function ownDeletesOf(db: Db): Collection<OwnDeletes> {
  return db.collection(OWN_DELETES.name);
}

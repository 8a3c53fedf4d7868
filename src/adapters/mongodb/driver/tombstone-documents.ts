// Tombstones as documents, within the caller's transaction. D-7.6.
import type { ClientSession, Collection, Db, Long, UUID } from "mongodb";
import { keyText, recordKey } from "../../../domain/sync/rows/row-key.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { cutBatches, type InternalCollection, takeNumbers } from "./collections.ts";
import { nowExpression, type TimeSource } from "./operations.ts";

/** One document per key. */
export const TOMBSTONES: InternalCollection = {
  name: "repsync_tombstones",
  indexes: [{ name: "repsync_place", key: { table: 1, place: 1 } }],
};

export interface TombstoneDocument {
  /** Table name, slash, key text. */
  readonly _id: string;
  readonly table: string;
  /** The order of visibility, as the commit takes the number. */
  readonly place: number;
  /** The key columns as JSON. */
  readonly key: string;
  /** A canonical time. */
  readonly deletedAt: string;
  /** When the tombstone was taken in or listed anew. */
  readonly takenAt: Date;
}

/** The keys that one command names. */
const BATCH = { maxItems: 10_000, maxBytes: 8 * 1024 * 1024 };

/** `deletedAt` by `keyText`, for the keys with a tombstone, also in a snapshot. */
export async function findTombstones(
  db: Db,
  table: Table,
  keyTexts: Iterable<string>,
  tx: ClientSession,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  // A fast look, as most tables have no tombstones.
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

/** Puts tombstones at the end of the list in this order, and removes earlier ones of their keys. */
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
    // A pipeline has the server's time. No text in it begins with a dollar sign, which would name a field.
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

export function keyJson(table: Table, row: Row): string {
  return JSON.stringify(recordKey(table, row));
}

/** A value that no tombstone's key may have. */
export interface ForgottenValue {
  readonly table: string;
  /** Column and value as in the JSON of a key, which escapes quotation marks within values. */
  readonly text: string;
}

/** Forgets the tombstones whose keys have a value. D-8.2. */
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

/** The counter of a table's places. */
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

// Own deletes leave no tombstone: of rows whose tombstone arrives in the commit, and of an erased person. The recorder knows them by
// their transaction, which change events name.

/** One document per transaction, until the recorder has passed it. */
export const OWN_DELETES: InternalCollection = { name: "repsync_own_deletes" };

interface OwnDeletes {
  /** Made by `transactionName()`. */
  readonly _id: string;
  readonly at: Date;
}

/** Tells the recorder through the change stream what to forget: it may not have seen all earlier deletes. */
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

/** Forgets the tombstones whose keys have a value, also those of earlier deletes not recorded yet. D-8.2. */
export async function forgetForGood(
  db: Db,
  forgets: ForgottenValue,
  tx: ClientSession,
): Promise<void> {
  await forgetTombstonesOf(db, forgets, tx);
  const notes = db.collection<ForgetNote>(OWN_DELETES.name);
  const { insertedId: _id } = await notes.insertOne({ forgets }, { session: tx });
  // The change stream keeps the note; no document keeps the value.
  await notes.deleteOne({ _id }, { session: tx });
}

/** Names a transaction by values that its session and its change events both have. */
export function transactionName(session: UUID, txnNumber: number | Long): string {
  return `${session.toHexString()}/${txnNumber.toString()}`;
}

export function ownDeletesOf(db: Db): Collection<OwnDeletes> {
  return db.collection(OWN_DELETES.name);
}

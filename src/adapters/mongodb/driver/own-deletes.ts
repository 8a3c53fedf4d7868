// Deletes by repsync itself, which leave no tombstone: of rows whose tombstone arrived in the same commit, and of an erased
// person. Their transactions are noted, as the recorder learns of deletes by their events, which name the transaction.
import type { ClientSession, Collection, Db, Long, UUID } from "mongodb";
import type { InternalCollection } from "./collections.ts";

/** A document per transaction, until the recorder has passed it. */
export const OWN_DELETES: InternalCollection = { name: "repsync_own_deletes" };

interface OwnDeleteDocument {
  /** As `transactionName()`. */
  readonly _id: string;
  readonly at: Date;
}

/** Notes that no delete of this transaction leaves a tombstone. */
export async function noteOwnDeletes(db: Db, tx: ClientSession): Promise<void> {
  const { id, txnNumber } = tx.serverSession;
  const _id = transactionName(id.id.toUUID(), txnNumber);
  const noted = [{ $set: { at: "$$NOW" } }];
  await ownDeletesOf(db).updateOne({ _id }, noted, { upsert: true, session: tx });
}

/** One name per transaction, from what a change event and its session have. */
export function transactionName(session: UUID, txnNumber: number | Long): string {
  return `${session.toHexString()}/${txnNumber.toString()}`;
}

export function ownDeletesOf(db: Db): Collection<OwnDeleteDocument> {
  return db.collection(OWN_DELETES.name);
}

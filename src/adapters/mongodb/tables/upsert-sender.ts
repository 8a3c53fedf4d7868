// The bulkWrites by which rows are written, within a transaction.
import {
  type AnyBulkWriteOperation,
  type BulkWriteResult,
  type ClientSession,
  type Collection,
  MongoBulkWriteError,
  MongoServerError,
} from "mongodb";
import type { WriteFailure } from "../../../ports/tables/table-writes.ts";
import { isPassing } from "../driver/errors.ts";
import { cutUpserts, type Upsert } from "./upserts.ts";

/** Why the server may refuse a row, by error code. Its own messages hold values of rows. */
export const REFUSALS: ReadonlyMap<number, string> = new Map([
  [121, "The row does not pass the validator of the MongoDB collection"],
  [10334, "The row is larger than the 16 MiB that MongoDB can store"],
  [11000, "Another row has the same value in a unique index of the MongoDB collection"],
  [17419, "The row is larger than the 16 MiB that MongoDB can store"],
]);
/** Codes that an upsert may get though its record is not at fault. */
const BATCH_PROBLEMS: ReadonlySet<number> = new Set([
  13, // Unauthorized
  146, // ExceededMemoryLimit
  290, // TransactionExceededLifetimeLimitSeconds
  388, // TransactionTooLargeForCache
  14031, // OutOfDiskSpace
]);

/** An upsert that the server refused for good; its transaction is over. */
export class RefusedUpsert extends Error {
  readonly upsert: Upsert;
  readonly code: number;

  constructor(upsert: Upsert, code: number) {
    super(`Upsert refused with code ${code}`);
    this.upsert = upsert;
    this.code = code;
  }

  get failure(): WriteFailure {
    const message = REFUSALS.get(this.code) ?? `MongoDB refused the row: error ${this.code}`;
    return { index: this.upsert.index, message };
  }
}

/** The rows that upserts go to, until the server refuses the first one, which is thrown. */
interface Target {
  readonly collection: Collection;
  /** True when the upserts take effect one after the other. */
  readonly isOrdered: boolean;
  readonly tx: ClientSession;
}

/** Writes the rows of all upserts as new ones, at a quarter of the time. An existing key is a refusal. */
export async function sendInserts(to: Target, upserts: readonly Upsert[]): Promise<void> {
  for (const batch of cutUpserts(upserts)) {
    const inserts = batch.map(({ document }) => ({ insertOne: { document } }));
    await send(to, batch, inserts);
  }
}

/** Writes rows that are there or not; how many are new, and how many are new or have changed. */
export async function sendUpserts(
  to: Target,
  upserts: readonly Upsert[],
): Promise<{ readonly newRows: number; readonly changed: number }> {
  const done = { newRows: 0, changed: 0 };
  for (const batch of cutUpserts(upserts)) {
    const updates = batch.map(({ filter, update }) => ({
      updateOne: { filter, update, upsert: true },
    }));
    const written = await send(to, batch, updates);
    done.newRows += written.upsertedCount;
    done.changed += written.upsertedCount + written.modifiedCount;
  }
  return done;
}

/** Writes one batch, an operation for each of its upserts, by one command of the transaction. */
async function send(
  { collection, isOrdered, tx }: Target,
  batch: readonly Upsert[],
  operations: readonly AnyBulkWriteOperation[],
): Promise<BulkWriteResult> {
  try {
    // The server makes the ids of new rows, as it does for those that upserts insert.
    const options = { session: tx, ordered: isOrdered, forceServerObjectId: true };
    return await collection.bulkWrite(operations, options);
  } catch (error) {
    throw refusalOf(error, batch);
  }
}

/** The refusal of an upsert that ended the transaction, or the error as it is. */
function refusalOf(error: unknown, batch: readonly Upsert[]): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error;
  const [refused] = error.result.getWriteErrors();
  if (refused === undefined) return error;
  // Without the server's message, which holds values of the row.
  const serverError = new MongoServerError({ message: "An upsert failed", code: refused.code });
  const upsert = batch[refused.index];
  if (upsert === undefined || BATCH_PROBLEMS.has(refused.code) || isPassing(serverError)) {
    return serverError;
  }
  return new RefusedUpsert(upsert, refused.code);
}

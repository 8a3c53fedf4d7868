import {
  type AnyBulkWriteOperation,
  type BulkWriteResult,
  type ClientSession,
  type Collection,
  MongoBulkWriteError,
  MongoServerError,
} from "mongodb";
import type { WriteFailure } from "../../../ports/tables/table-writes.ts";
import { cutBatches } from "../driver/collections.ts";
import { isPassing } from "../driver/errors.ts";
import type { Upsert } from "./upserts.ts";

/** Refusals of rows by error code; the server's messages hold values of rows. */
export const REFUSALS: ReadonlyMap<number, string> = new Map([
  [121, "The row does not pass the validator of the MongoDB collection"],
  [10334, "The row is larger than the 16 MiB that MongoDB can store"],
  [11000, "Another row has the same value in a unique index of the MongoDB collection"],
  [17419, "The row is larger than the 16 MiB that MongoDB can store"],
]);
/** Codes of an upsert whose record is not at fault. */
const BATCH_PROBLEMS: ReadonlySet<number> = new Set([
  13, // Unauthorized
  146, // ExceededMemoryLimit
  290, // TransactionExceededLifetimeLimitSeconds
  388, // TransactionTooLargeForCache
  14031, // OutOfDiskSpace
]);

/** The server refused an upsert for good; the transaction is over. */
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

/** Estimated bytes of a batch, well below the 16 MiB at which the driver splits a `bulkWrite`. A larger upsert is a batch of its own. */
const MAX_BATCH_BYTES = 12 * 1024 * 1024;
/** The most upserts of a batch, as the driver prepares a batch in one turn. */
const MAX_BATCH_UPSERTS = 1_000;

interface Target {
  readonly collection: Collection;
  readonly isOrdered: boolean;
  readonly tx: ClientSession;
}

/** Inserts new rows, in a quarter of the time of upserts. An existing key is refused. */
export async function sendInserts(to: Target, upserts: readonly Upsert[]): Promise<void> {
  for (const batch of cutUpserts(upserts)) {
    const inserts = batch.map(({ document }) => ({ insertOne: { document } }));
    await send(to, batch, inserts);
  }
}

/** Upserts rows; `changed` includes new rows. */
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

/** Batches in order, each for one command. */
function cutUpserts(upserts: readonly Upsert[]): Upsert[][] {
  const bytesOf = ({ estimatedBytes }: Upsert) => estimatedBytes;
  return cutBatches(upserts, { maxItems: MAX_BATCH_UPSERTS, maxBytes: MAX_BATCH_BYTES, bytesOf });
}

/** Sends a batch as one command of the transaction. */
async function send(
  { collection, isOrdered, tx }: Target,
  batch: readonly Upsert[],
  operations: readonly AnyBulkWriteOperation[],
): Promise<BulkWriteResult> {
  try {
    // The server makes the ids of new rows, as for upserts.
    const options = { session: tx, ordered: isOrdered, forceServerObjectId: true };
    return await collection.bulkWrite(operations, options);
  } catch (error) {
    throw refusalOf(error, batch);
  }
}

/** The refused upsert that ended the transaction, or the error itself. */
function refusalOf(error: unknown, batch: readonly Upsert[]): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error;
  const [refused] = error.result.getWriteErrors();
  if (refused === undefined) return error;
  // The server's message holds values of the row.
  const serverError = new MongoServerError({ message: "An upsert failed", code: refused.code });
  const upsert = batch[refused.index];
  if (upsert === undefined || BATCH_PROBLEMS.has(refused.code) || isPassing(serverError)) {
    return serverError;
  }
  return new RefusedUpsert(upsert, refused.code);
}

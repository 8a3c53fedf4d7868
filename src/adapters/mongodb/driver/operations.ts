// The ways to read from MongoDB and write to it. Each tries again what failed for a passing reason, until the deadline of
// its call, and throws only `AppError`s.
import { type ClientSession, type Db, type MongoClient, MongoServerError } from "mongodb";
import type { CallLimit } from "../../../ports/documents.ts";
import { Deadline, retry, type Stopwatch, TimeUp } from "./deadline.ts";
import { asAppErrors, toAppError } from "./errors.ts";
import { giveUpSession } from "./orphaned-transactions.ts";
import type { PrimaryWatch } from "./primary-watch.ts";
import type { StoreClock } from "./server-clock.ts";
import { commitTransaction, type TransactionBody } from "./transaction.ts";

export interface StoreDeps {
  readonly client: MongoClient;
  readonly db: Db;
  readonly clock: Stopwatch;
  readonly primaryWatch: PrimaryWatch;
  readonly storeClock: StoreClock;
  /** The time that each call may take: `SYNC_CALLS` or `REQUEST_CALLS`. */
  readonly callLimit: CallLimit;
}

/** Options of reads by `readCommitted()`. */
export const COMMITTED = { readConcern: { level: "majority" } } as const;

const SNAPSHOT = { level: "snapshot" } as const;

/** Options of a command in a transaction or snapshot. */
export interface TxOptions {
  readonly session: ClientSession;
  readonly readConcern?: typeof SNAPSHOT;
}

/** A snapshot has to be named at every command, a transaction where it begins. */
export function optionsIn(session: ClientSession): TxOptions {
  return session.snapshotEnabled ? { session, readConcern: SNAPSHOT } : { session };
}

/** Server code of a transaction that has to be run again. */
const NO_SUCH_TRANSACTION = 251;

/**
 * Reads with `COMMITTED`: sees every write acknowledged before. A primary that was just replaced may still answer, so such
 * a read decides nothing that must take effect at once, as the end of a right.
 */
export async function readCommitted<T>(
  { clock, primaryWatch, callLimit }: Pick<StoreDeps, "clock" | "primaryWatch" | "callLimit">,
  read: () => Promise<T>,
  deadline: Deadline = new Deadline(clock, callLimit),
): Promise<T> {
  return await asAppErrors(retry(deadline, () => primaryWatch.read(read)));
}

/** As `readCommitted()`, but all reads of `tx` are of one snapshot; they take the options of `optionsIn()`. */
export async function readSnapshot<T>(
  deps: Pick<StoreDeps, "client" | "clock" | "primaryWatch" | "callLimit">,
  read: (tx: ClientSession) => Promise<T>,
  deadline?: Deadline,
): Promise<T> {
  const readOnce = async () => {
    const tx = deps.client.startSession({ snapshot: true });
    try {
      return await read(tx);
    } finally {
      await tx.endSession();
    }
  };
  return await readCommitted(deps, readOnce, deadline);
}

/**
 * Makes one write to one document, durably. The write may happen twice, so it must be idempotent; but no try takes effect
 * after a later one was acknowledged: servers refuse that within a session, which all tries share.
 */
export async function writeOne<T>(
  { client, clock, callLimit }: Pick<StoreDeps, "client" | "clock" | "callLimit">,
  write: (options: TxOptions) => Promise<T>,
): Promise<T> {
  const tx = client.startSession({ causalConsistency: false });
  const deadline = new Deadline(clock, callLimit);
  let isHanging = false;
  try {
    return await retry(deadline, () => write({ session: tx }));
  } catch (error) {
    isHanging = error instanceof TimeUp;
    throw toAppError(error);
  } finally {
    if (isHanging) giveUpSession(client, tx);
    else await tx.endSession();
  }
}

/** Makes several reads and writes as one durable transaction, done once. It reads as `readCommitted()` does. */
export async function writeTogether<T>(
  { client, clock, primaryWatch, callLimit }: Omit<StoreDeps, "db" | "storeClock">,
  body: TransactionBody<T>,
): Promise<T> {
  const scope = { client, clock, deadline: new Deadline(clock, callLimit) };
  const committed = commitTransaction(scope, async (tx) => {
    const primary = await primaryWatch.confirm();
    const result = await body(tx);
    if ((await primaryWatch.confirm()) === primary) return result;
    throw new MongoServerError({ message: "The primary changed", code: NO_SUCH_TRANSACTION });
  });
  return await asAppErrors(committed);
}

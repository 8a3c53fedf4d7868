// The ways in which a store asks MongoDB. Each repeats what failed for a passing reason, within the time of a call, and
// throws nothing but `AppError`s.
import { type ClientSession, type Db, type MongoClient, MongoServerError } from "mongodb";
import { DURABLE } from "./collections.ts";
import {
  type CallLimit,
  type Deadline,
  retry,
  type Stopwatch,
  startDeadline,
  TimeUp,
} from "./deadline.ts";
import { isPassing, toAppError } from "./errors.ts";
import { giveUpSession } from "./orphaned-transactions.ts";
import type { PrimaryWatch } from "./primary-watch.ts";
import type { StoreClock } from "./server-clock.ts";
import { commitTransaction, type TransactionBody } from "./transaction.ts";

/** What every store works with. */
export interface StoreDeps {
  readonly client: MongoClient;
  readonly db: Db;
  readonly clock: Stopwatch;
  readonly primaryWatch: PrimaryWatch;
  readonly storeClock: StoreClock;
  /** How long each call may take: `SYNC_CALLS` or `REQUEST_CALLS`. */
  readonly callLimit: CallLimit;
}

/** Options of reads by `readCommitted()`. */
export const COMMITTED = { readConcern: { level: "majority" } } as const;

/** Options of reads by `readSnapshot()`: outside of transactions every command needs them. */
export const SNAPSHOT = { readConcern: { level: "snapshot" } } as const;

/** Options of a write by itself. */
export interface WriteOptions {
  readonly session: ClientSession;
  readonly writeConcern: typeof DURABLE;
}

/** Server code of a transaction that has to be run again. */
const NO_SUCH_TRANSACTION = 251;

/**
 * Reads with `COMMITTED`. Sees every write acknowledged before; but a primary that was replaced a moment ago, and does
 * not know it yet, may still answer, so nothing that must end at once is decided by such a read.
 */
export async function readCommitted<T>(
  { clock, primaryWatch, callLimit }: Pick<StoreDeps, "clock" | "primaryWatch" | "callLimit">,
  read: () => Promise<T>,
  deadline: Deadline = startDeadline(clock, callLimit),
): Promise<T> {
  try {
    return await deadline.race(retry(deadline, () => primaryWatch.read(read)));
  } catch (error) {
    throw toAppError(error);
  }
}

/** As `readCommitted()`, but all reads of the session see one moment; they take `SNAPSHOT`. */
export async function readSnapshot<T>(
  parts: Pick<StoreDeps, "client" | "clock" | "primaryWatch" | "callLimit">,
  read: (session: ClientSession) => Promise<T>,
  deadline?: Deadline,
): Promise<T> {
  const readOnce = async () => {
    const session = parts.client.startSession({ snapshot: true });
    try {
      return await read(session);
    } finally {
      await session.endSession();
    }
  };
  return await readCommitted(parts, readOnce, deadline);
}

/**
 * Makes one write to one document, durably. It may be done twice, so it must be one that this does not change; but no
 * try comes into effect after a later one was acknowledged: they share a session, in which servers refuse that.
 */
export async function writeOne<T>(
  { client, clock, callLimit }: Pick<StoreDeps, "client" | "clock" | "callLimit">,
  write: (options: WriteOptions) => Promise<T>,
): Promise<T> {
  const session = client.startSession({ causalConsistency: false });
  const deadline = startDeadline(clock, callLimit);
  let isHanging = false;
  try {
    const attempt = () => write({ session, writeConcern: DURABLE });
    return await deadline.race(retry(deadline, attempt));
  } catch (error) {
    isHanging = error instanceof TimeUp;
    throw toAppError(error);
  } finally {
    if (isHanging) giveUpSession(client, session);
    else await session.endSession();
  }
}

/**
 * Makes several reads and writes one step, durably, done once. What it reads is as in `readCommitted()`.
 */
export async function writeTogether<T>(
  { client, clock, primaryWatch, callLimit }: Omit<StoreDeps, "db" | "storeClock">,
  body: TransactionBody<T>,
): Promise<T> {
  const scope = { client, clock, deadline: startDeadline(clock, callLimit) };
  try {
    return await commitTransaction(scope, async (tx) => {
      const primary = await primaryWatch.confirm();
      const result = await body(tx);
      if ((await primaryWatch.confirm()) === primary) return result;
      throw new MongoServerError({ message: "The primary changed", code: NO_SUCH_TRANSACTION });
    });
  } catch (error) {
    throw toAppError(error);
  }
}

/**
 * All results of messages that are under way at once. When some fail, throws once all have ended, as a session must not be
 * in use when its work has failed; of several failures the one that the others follow from.
 */
export async function settleAll<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Place in keyof Work]: Awaited<Work[Place]> }> {
  const ended = await Promise.allSettled(work);
  const failures = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (failures.length > 0) throw failures.find((error) => !isPassing(error)) ?? failures[0];
  return await Promise.all(work);
}

// The ways in which a store asks MongoDB. Each repeats what failed for a passing reason, within the time of a call, and
// throws nothing but `AppError`s.
import { type ClientSession, type Db, type MongoClient, MongoServerError } from "mongodb";
import { retry, type Stopwatch, startDeadline } from "./deadline.ts";
import { DURABLE } from "./durable.ts";
import { toAppError } from "./errors.ts";
import type { PrimaryWatch } from "./primary-monitor.ts";
import type { StoreClock } from "./server-clock.ts";
import { commitTransaction, type TransactionBody } from "./transaction.ts";

/** What every store works with. */
export interface StoreParts {
  readonly client: MongoClient;
  readonly db: Db;
  readonly clock: Stopwatch;
  readonly primaryWatch: PrimaryWatch;
  readonly storeClock: StoreClock;
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
  { clock, primaryWatch }: Pick<StoreParts, "clock" | "primaryWatch">,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await retry(startDeadline(clock), () => primaryWatch.read(read));
  } catch (error) {
    throw toAppError(error);
  }
}

/** As `readCommitted()`, but all reads of the session see one moment; they take `SNAPSHOT`. */
export async function readSnapshot<T>(
  parts: Pick<StoreParts, "client" | "clock" | "primaryWatch">,
  read: (session: ClientSession) => Promise<T>,
): Promise<T> {
  return await readCommitted(parts, async () => {
    const session = parts.client.startSession({ snapshot: true });
    try {
      return await read(session);
    } finally {
      await session.endSession();
    }
  });
}

/**
 * Makes one write to one document, durably. It may be done twice, so it must be one that this does not change; but no
 * try comes into effect after a later one was acknowledged: they share a session, in which servers refuse that.
 */
export async function writeOne<T>(
  { client, clock }: Pick<StoreParts, "client" | "clock">,
  write: (options: WriteOptions) => Promise<T>,
): Promise<T> {
  const session = client.startSession({ causalConsistency: false });
  try {
    return await retry(startDeadline(clock), () => write({ session, writeConcern: DURABLE }));
  } catch (error) {
    throw toAppError(error);
  } finally {
    await session.endSession();
  }
}

/**
 * Makes several reads and writes one step, durably, done once; in a lasting session if there is one. What it reads is as
 * in `readCommitted()`.
 */
export async function writeTogether<T>(
  {
    client,
    clock,
    primaryWatch,
    session,
  }: Pick<StoreParts, "client" | "clock" | "primaryWatch"> & { readonly session?: ClientSession },
  body: TransactionBody<T>,
): Promise<T> {
  const scope = { client, clock, deadline: startDeadline(clock), session };
  try {
    return await commitTransaction(scope, async (session, tries) => {
      const primary = await primaryWatch.confirm();
      const result = await body(session, tries);
      if ((await primaryWatch.confirm()) === primary) return result;
      throw runAgain("The primary changed");
    });
  } catch (error) {
    throw toAppError(error);
  }
}

/** What the work of a transaction throws to be run again from its start. */
export function runAgain(message: string): MongoServerError {
  return new MongoServerError({ message, code: NO_SUCH_TRANSACTION });
}

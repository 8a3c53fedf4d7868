// The ways to read and write. Each repeats what fails for a passing reason until its deadline, and throws only `AppError`s.
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
  /** `SYNC_CALLS` or `REQUEST_CALLS`. */
  readonly callLimit: CallLimit;
}

export const COMMITTED = { readConcern: { level: "majority" } } as const;

const SNAPSHOT = { level: "snapshot" } as const;

export interface TxOptions {
  readonly session: ClientSession;
  readonly readConcern?: typeof SNAPSHOT;
}

/** The options of a command in a session: a snapshot is named in each command, a transaction only at its start. */
export function optionsIn(session: ClientSession): TxOptions {
  return session.snapshotEnabled ? { session, readConcern: SNAPSHOT } : { session };
}

/** The server code after which a transaction runs again. */
const NO_SUCH_TRANSACTION = 251;

/**
 * Sees every write acknowledged before the call. A replaced primary may answer, so the result must not decide what takes effect at
 * once, such as the end of a right.
 */
export async function readCommitted<T>(
  { clock, primaryWatch, callLimit }: Pick<StoreDeps, "clock" | "primaryWatch" | "callLimit">,
  read: () => Promise<T>,
  deadline: Deadline = new Deadline(clock, callLimit),
): Promise<T> {
  return await asAppErrors(retry(deadline, () => primaryWatch.read(read)));
}

/** As `readCommitted()`, with all reads in one snapshot, by the options of `optionsIn()`. */
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
 * Makes one durable write to one document. The write may happen twice and must be idempotent. No try takes effect after a later one
 * was acknowledged: all share a session, in which servers refuse that.
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

/** Makes reads and writes as one durable transaction. Reads see what those of `readCommitted()` do. */
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

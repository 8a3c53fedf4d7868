// Transactions that survive conflicts, elections and lost replies.
import type { ClientSession, MongoClient, TransactionOptions } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { type Deadline, type Stopwatch, startDeadline } from "./deadline.ts";
import { DURABLE } from "./durable.ts";
import { hasCode, innerError, isClosed, isOutcomeUnknown, isPassing } from "./errors.ts";
import { endDeadTransactions, isPatienceOver } from "./open-sessions.ts";

const TRANSACTION_OPTIONS = {
  readConcern: { level: "snapshot" },
  writeConcern: DURABLE,
  readPreference: "primary",
} as const satisfies TransactionOptions;

/** Server code of a write that meets one of another transaction. */
const WRITE_CONFLICT = 112;

/** Where and for how long a transaction runs. */
export interface TransactionScope {
  readonly client: MongoClient;
  readonly clock: Stopwatch;
  /** For the tries; a commit that was sent gets time of its own, so that its outcome becomes known. */
  readonly deadline: Deadline;
  /** One that goes on afterwards; without it each call has one of its own. */
  readonly session?: ClientSession | undefined;
}

/** The work of a transaction; `tries` is how often it has failed before. */
export type TransactionBody<T> = (session: ClientSession, tries: number) => Promise<T>;

/**
 * Runs `body` in a transaction and commits it, again from the start while it fails for a passing reason.
 * A commit whose reply was lost is asked for again in the same transaction, never run twice: the server knows whether
 * it happened. Throws `store_unavailable` when that stays unknown, otherwise the last failure of `body` or commit, of
 * which nothing was written.
 */
export function commitTransaction<T>(
  scope: TransactionScope,
  body: TransactionBody<T>,
): Promise<T> {
  const finish = (session: ClientSession) => commit(session, startDeadline(scope.clock));
  return runTransaction(scope, { body, finish });
}

/** As `commitTransaction`, but takes back whatever `body` wrote. */
export function tryTransaction<T>(scope: TransactionScope, body: TransactionBody<T>): Promise<T> {
  const finish = (session: ClientSession) => session.abortTransaction();
  return runTransaction(scope, { body, finish });
}

async function runTransaction<T>(
  { client, deadline, session: lasting }: TransactionScope,
  steps: {
    readonly body: TransactionBody<T>;
    readonly finish: (session: ClientSession) => Promise<void>;
  },
): Promise<T> {
  // One session for all tries: the server then ends what a broken connection left behind of an earlier one.
  const session = lasting ?? client.startSession({ causalConsistency: false });
  try {
    for (let tries = 0; ; tries++) {
      try {
        session.startTransaction(TRANSACTION_OPTIONS);
        const result = await steps.body(session, tries);
        await steps.finish(session);
        return result;
      } catch (thrown) {
        const error = innerError(thrown);
        if (session.inTransaction()) await session.abortTransaction();
        if (!isPassing(error) || deadline.isOver()) throw error;
        if (hasCode(error, WRITE_CONFLICT) && isPatienceOver(tries)) {
          // It only saves waiting for MongoDB to end it.
          await endDeadTransactions(client).catch(() => {});
        }
        await deadline.pause(tries);
      }
    }
  } finally {
    if (session !== lasting) await session.endSession();
  }
}

async function commit(session: ClientSession, deadline: Deadline): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      if (deadline.isOver() || isClosed(error)) {
        const message = "The connection to MongoDB broke during a commit: its outcome is unknown";
        throw new AppError("store_unavailable", message, { cause: error });
      }
      await deadline.pause(tries);
    }
  }
}

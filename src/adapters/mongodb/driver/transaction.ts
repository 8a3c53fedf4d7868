// Transactions that survive conflicts, elections and lost replies.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import { CommitInDoubt } from "../../../ports/documents.ts";
import type { PlaceInQueue } from "../../../ports/runtime/turns.ts";
import { DURABLE } from "./collections.ts";
import { type Deadline, type Stopwatch, TimeUp } from "./deadline.ts";
import {
  hasCode,
  innerError,
  isClosed,
  isOutcomeUnknown,
  isPassing,
  WRITE_CONFLICT,
} from "./errors.ts";

/** How long a divisible commit meets conflicts: longer than orphaned transactions live. */
export const MAX_CONFLICTS_MS = 4_000;
/** A few transactions long. After longer pauses a body would starve beside busy writers. */
const LONGEST_AFTER_CONFLICT_MS = 32;

export interface TransactionScope {
  readonly client: MongoClient;
  readonly clock: Stopwatch;
  readonly deadline: Deadline;
  /** Tries end once conflicts have lasted so long; absent: with the deadline. */
  readonly maxConflictsMs?: number | undefined;
  /** Enters the queue in which a body waits after a conflict. Without a queue the body pauses. */
  readonly enterQueue?: (() => PlaceInQueue) | undefined;
  /** True for a body that waits in the queue before its first try, too. */
  readonly isQueued?: boolean | undefined;
}

export type TransactionBody<T> = (tx: ClientSession) => Promise<T>;

/**
 * Runs `body` in a transaction and commits, again from the start after a passing failure. After a lost reply only the commit is
 * repeated, as the server knows whether it happened. Throws `CommitInDoubt` when that stays unknown, else the last failure, of which
 * nothing was written.
 */
export function commitTransaction<T>(
  scope: TransactionScope,
  body: TransactionBody<T>,
): Promise<T> {
  return runTransaction(scope, body, (tx) => commit(tx, scope.deadline.forCommit()));
}

/** As `commitTransaction`, with an end of its own: a `finish` that aborts takes back what `body` wrote. */
export async function runTransaction<T>(
  scope: TransactionScope,
  body: TransactionBody<T>,
  finish: (tx: ClientSession) => Promise<void>,
): Promise<T> {
  const { client, deadline, enterQueue, isQueued = false } = scope;
  // All tries share a session: the server then ends what an earlier try left behind.
  const tx = client.startSession({ causalConsistency: false });
  const patience = new ConflictPatience(scope);
  let place: PlaceInQueue | undefined;
  /** Waits in the queue. False without a wait when there is no queue, or the body is in it. */
  const queue = async () => {
    if (place !== undefined || enterQueue === undefined) return false;
    place = enterQueue();
    await deadline.race(place.turn);
    return true;
  };
  let isHanging = false;
  try {
    if (isQueued) await queue();
    for (let tries = 0; ; tries++) {
      try {
        return await tryOnce(tx, deadline, body, finish);
      } catch (error) {
        isHanging = error instanceof TimeUp || error instanceof CommitInDoubt;
        if (!isPassing(error) || deadline.isOver() || patience.isOver()) throw error;
        const isConflict = hasCode(error, WRITE_CONFLICT);
        if (isConflict) await deadline.race(patience.noteConflict());
        if (isConflict && (await queue())) continue;
        await deadline.pause(tries, isConflict ? LONGEST_AFTER_CONFLICT_MS : undefined);
      }
    }
  } finally {
    place?.leave();
    if (isHanging) giveUpSession(client, tx);
    else await tx.endSession();
  }
}

/** One try. Aborts after an error, except after `TimeUp` and `CommitInDoubt`: the transaction may still be running then. */
async function tryOnce<T>(
  tx: ClientSession,
  deadline: Deadline,
  body: TransactionBody<T>,
  finish: (tx: ClientSession) => Promise<void>,
): Promise<T> {
  try {
    tx.startTransaction({ readConcern: { level: "snapshot" }, writeConcern: DURABLE });
    const result = await deadline.race(body(tx));
    await finish(tx);
    return result;
  } catch (thrown) {
    const error = innerError(thrown);
    const mayGoOn = error instanceof TimeUp || error instanceof CommitInDoubt;
    if (!mayGoOn && tx.inTransaction()) await deadline.race(tx.abortTransaction());
    throw error;
  }
}

/** Commits, and repeats that while the outcome is unknown. Throws `CommitInDoubt` when it stays unknown. */
export async function commit(tx: ClientSession, deadline: Deadline): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await deadline.race(tx.commitTransaction());
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      if (error instanceof TimeUp || deadline.isOver() || isClosed(error)) {
        throw new CommitInDoubt(error);
      }
      await deadline.pause(tries);
    }
  }
}

// What an attempt learns of a refused record is kept by the number of the write in the body, so a body makes the same calls in the
// same order each time.

/** Ends an attempt whose transaction is over, for a reason that the next one avoids. */
export class Rerun extends Error {
  /** Finds out what the next attempt needs, outside of transactions or in some that are taken back. */
  readonly learn: (scope: TransactionScope) => Promise<void>;

  constructor(learn: Rerun["learn"] = async () => {}) {
    super("The transaction runs again");
    this.learn = learn;
  }
}

export async function withReruns<T>(
  scope: TransactionScope,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Rerun)) throw error;
      await error.learn(scope);
    }
  }
}

// The transaction of a killed instance blocks what it wrote for up to a minute. A call that has met conflicts for a second ends
// transactions without a command for two seconds, so that an account answers again within 3 s of a kill -9. All instances log in as
// one user, as a user may end its own sessions only.

/** Conflicts with running instances are shorter. */
const PATIENCE_MS = 1_000;
const LOOK_AGAIN_MS = 250;
/** Commands of a running transaction follow within milliseconds, on a very busy machine within a second. */
const ORPHANED_AFTER_MICROS = 2_000_000;

class ConflictPatience {
  readonly #scope: TransactionScope;
  #endsMs: number | null = null;
  #firstMs: number | null = null;

  constructor(scope: TransactionScope) {
    this.#scope = scope;
  }

  /** True once conflicts have lasted as long as they may. */
  isOver(): boolean {
    const { clock, maxConflictsMs = Number.POSITIVE_INFINITY } = this.#scope;
    return this.#firstMs !== null && clock.monotonicMs() - this.#firstMs >= maxConflictsMs;
  }

  /** Notes a conflict, and ends orphaned transactions after a long time of conflicts. Never fails. */
  async noteConflict(): Promise<void> {
    const { client, clock } = this.#scope;
    const nowMs = clock.monotonicMs();
    this.#firstMs ??= nowMs;
    this.#endsMs ??= nowMs + PATIENCE_MS;
    if (nowMs < this.#endsMs) return;
    this.#endsMs = nowMs + LOOK_AGAIN_MS;
    // MongoDB ends them later in any case.
    await endOrphanedTransactions(client).catch(() => {});
  }
}

/** Ends idle transactions of this program: their instances are gone, or stalled and run them again. Needs no further rights. */
async function endOrphanedTransactions(client: MongoClient): Promise<void> {
  const isOrphaned = {
    appName: client.options.appName,
    "transaction.timeInactiveMicros": { $gt: ORPHANED_AFTER_MICROS },
  };
  const stages = [{ $currentOp: { idleSessions: true } }, { $match: isOrphaned }];
  const found = client
    .db("admin")
    .aggregate<{ readonly lsid: { readonly id: UUID } }>(stages)
    .map(({ lsid }) => lsid.id);
  await killSessions(client, await found.toArray());
}

/** Ends a session and its running work without waiting. The session must not be used afterwards. */
export function giveUpSession(client: MongoClient, tx: ClientSession): void {
  endTransaction(client, tx)
    .then(() => tx.endSession())
    .catch(() => {});
}

/** Ends the running work of a session, and waits until it holds no lock. An abort does not wait for that. */
export async function endTransaction(client: MongoClient, tx: ClientSession): Promise<void> {
  const id = tx.id?.id.toUUID();
  if (id !== undefined) await killSessions(client, [id]);
}

async function killSessions(client: MongoClient, ids: readonly UUID[]): Promise<void> {
  // An empty list would end all sessions of the user.
  if (ids.length === 0) return;
  await client.db("admin").command({ killSessions: ids.map((id) => ({ id })) });
}

// The transaction of a killed instance blocks what it wrote for up to a minute. A call that has met conflicts for a second ends
// transactions without a command for two seconds, so that an account answers again within 3 s of a kill -9. All instances log in as
// one user, as a user may end its own sessions only.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import type { Stopwatch } from "./deadline.ts";

/** Conflicts with running instances are shorter. */
const PATIENCE_MS = 1_000;
const LOOK_AGAIN_MS = 250;
/** Commands of a running transaction follow within milliseconds, on a very busy machine within a second. */
const ORPHANED_AFTER_MICROS = 2_000_000;

export class ConflictPatience {
  readonly #client: MongoClient;
  readonly #clock: Stopwatch;
  readonly #maxConflictsMs: number;
  #endsMs: number | null = null;
  #firstMs: number | null = null;

  constructor(client: MongoClient, clock: Stopwatch, maxConflictsMs = Number.POSITIVE_INFINITY) {
    this.#client = client;
    this.#clock = clock;
    this.#maxConflictsMs = maxConflictsMs;
  }

  /** True once conflicts have lasted as long as they may. */
  isOver(): boolean {
    if (this.#firstMs === null) return false;
    return this.#clock.monotonicMs() - this.#firstMs >= this.#maxConflictsMs;
  }

  /** Notes a conflict, and ends orphaned transactions after a long time of conflicts. Never fails. */
  async noteConflict(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    this.#firstMs ??= nowMs;
    this.#endsMs ??= nowMs + PATIENCE_MS;
    if (nowMs < this.#endsMs) return;
    this.#endsMs = nowMs + LOOK_AGAIN_MS;
    // MongoDB ends them later in any case.
    await endOrphanedTransactions(this.#client).catch(() => {});
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

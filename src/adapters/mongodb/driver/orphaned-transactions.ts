// A transaction of an instance that was killed keeps what it wrote for up to a minute, and MongoDB fails whoever else
// writes that meanwhile. So whoever meets conflicts for long ends transactions that nobody goes on with.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import type { Stopwatch } from "./deadline.ts";

/** Conflicts that last so long are not with instances that go on. */
const PATIENCE_MS = 1_000;
const LOOK_AGAIN_MS = 250;
/** Commands of a transaction follow one another within milliseconds, on a very busy machine within a second. */
const ORPHANED_AFTER_MICROS = 2_000_000;

/** The conflicts that one call meets. */
export class ConflictPatience {
  readonly #client: MongoClient;
  readonly #clock: Stopwatch;
  #endsMs: number | null = null;

  constructor(client: MongoClient, clock: Stopwatch) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Notes a conflict; when they have lasted long, ends orphaned transactions. Never fails. */
  async noteConflict(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    this.#endsMs ??= nowMs + PATIENCE_MS;
    if (nowMs < this.#endsMs) return;
    this.#endsMs = nowMs + LOOK_AGAIN_MS;
    // It only saves waiting for MongoDB to end them.
    await endOrphanedTransactions(this.#client).catch(() => {});
  }
}

/**
 * Ends transactions of this program that have had no command for two seconds: their instances are gone, or stand still and
 * run them again. Sees those of its own user only, and needs no other rights.
 */
export async function endOrphanedTransactions(client: MongoClient): Promise<void> {
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

/** Ends whatever a session has under way, here and on the server, without waiting for it. The session is not used again. */
export function giveUpSession(client: MongoClient, session: ClientSession): void {
  const id = session.id?.id.toUUID();
  const ended = id === undefined ? Promise.resolve() : killSessions(client, [id]);
  ended.then(() => session.endSession()).catch(() => {});
}

async function killSessions(client: MongoClient, ids: readonly UUID[]): Promise<void> {
  // None would mean all of the user's.
  if (ids.length === 0) return;
  await client.db("admin").command({ killSessions: ids.map((id) => ({ id })) });
}

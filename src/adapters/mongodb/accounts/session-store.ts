import type { ClientSession, Collection, Db } from "mongodb";
import type { Session, SessionStore } from "../../../ports/accounts/session-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { type StoreDeps, writeOne, writeTogether } from "../driver/operations.ts";
import { nowExpression } from "../driver/server-clock.ts";

/** The sessions by id, found by account too. MongoDB drops those past their end, some time later. */
export const SESSIONS: InternalCollection = {
  name: "repsync_sessions",
  indexes: [
    { name: "repsync_username", key: { username: 1 } },
    { name: "repsync_end", key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
};

/** Id of a document that is no session: it is written only to be written. */
const PROBE = "probe";

interface SessionDocument {
  readonly _id: string;
  readonly username: string;
  readonly expiresAt: Date;
  /** Times it was asked for and known. */
  readonly uses: number;
}

/** Sessions as documents, by the clock of the server. */
export class MongoSessionStore implements SessionStore {
  readonly #deps: StoreDeps;
  readonly #sessions: Collection<SessionDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#sessions = collectionOf(deps.db);
  }

  async begin({ id, username, expiresAtMs }: Session): Promise<void> {
    const session = { username, expiresAt: new Date(expiresAtMs), uses: 0 };
    await writeOne(this.#deps, (options) =>
      this.#sessions.replaceOne({ _id: id }, session, { ...options, upsert: true }),
    );
  }

  /**
   * A read may reach a replaced primary that misses an `end()`; a write must reach a majority, so it cannot. (A
   * linearizable read waits 100 ms for the journal.)
   */
  async isKnown(id: string, username: string): Promise<boolean> {
    const now = nowExpression(this.#deps.storeClock);
    const isAlive = { _id: id, username, $expr: { $gt: ["$expiresAt", now] } };
    const isKnownNow = async () => {
      const { matchedCount } = await writeOne(this.#deps, (options) =>
        this.#sessions.updateOne(isAlive, { $inc: { uses: 1 } }, options),
      );
      return matchedCount > 0;
    };
    if (await isKnownNow()) return true;
    // A write that changes nothing does not wait for a majority; this one does.
    await writeOne(this.#deps, (options) =>
      this.#sessions.updateOne({ _id: PROBE }, { $inc: { uses: 1 } }, { ...options, upsert: true }),
    );
    return await isKnownNow();
  }

  async extend(id: string, expiresAtMs: number): Promise<boolean> {
    const now = nowExpression(this.#deps.storeClock);
    const isAlive = { _id: id, $expr: { $gt: ["$expiresAt", now] } };
    // `uses` changes in any case: a write that changes nothing does not wait for a majority.
    const change = { $max: { expiresAt: new Date(expiresAtMs) }, $inc: { uses: 1 } };
    const { matchedCount } = await writeOne(this.#deps, (options) =>
      this.#sessions.updateOne(isAlive, change, options),
    );
    return matchedCount > 0;
  }

  async end(id: string): Promise<void> {
    await writeOne(this.#deps, (options) => this.#sessions.deleteOne({ _id: id }, options));
  }

  async endAllOf(username: string): Promise<void> {
    await writeTogether(this.#deps, (tx) => endSessionsOf(this.#deps.db, username, tx));
  }
}

/** Ends the sessions of an account but one, or all of them, within the caller's transaction. */
export async function endSessionsOf(
  db: Db,
  username: string,
  tx: ClientSession,
  keptId: string | null = null,
): Promise<void> {
  const isOther = keptId === null ? {} : { _id: { $ne: keptId } };
  await collectionOf(db).deleteMany({ username, ...isOther }, { session: tx });
}

function collectionOf(db: Db): Collection<SessionDocument> {
  return db.collection(SESSIONS.name);
}

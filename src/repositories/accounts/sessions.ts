import { isKey, type Key } from "../../domain/shared/document-key.ts";
import type { DocumentStore, Transaction } from "../../ports/documents.ts";
import { SESSIONS, type SessionDocument } from "./account-collections.ts";

/** Sessions past their end that one `begin` drops at most. */
const MAX_DROPPED = 100;

/** Which session of which account. */
export type SessionName = Pick<SessionDocument, "username" | "id">;

/**
 * Sessions that were begun here and have not ended, by the store's clock. Every method throws `store_unavailable` when the
 * store cannot be reached in time or cannot write.
 */
export class Sessions {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /** Keeps a session durably. Sessions past their end are dropped in passing. */
  async begin(session: SessionDocument): Promise<void> {
    await this.#documents.transact({ name: "sessions.begin" }, async (tx) => {
      const [[first]] = await tx.read({ from: SESSIONS, stretch: { index: "end", limit: 1 } });
      if (first !== undefined && first.expiresAtMs <= tx.nowMs) {
        // The places of those that end now begin with it, and come after it.
        const ended = { index: "end", upTo: [tx.nowMs + 1], limit: MAX_DROPPED };
        const [dropped] = await tx.read({ from: SESSIONS, keysOf: ended });
        for (const key of dropped) tx.remove(SESSIONS, key);
      }
      tx.put(SESSIONS, session);
    });
  }

  /**
   * True for a session of this account that was begun, has not been ended, and is before its `expiresAtMs`. Sees what
   * any instance did as soon as that has resolved, whichever server answers: `end`, and the removal of the account. D-6.3.
   */
  async isKnown(name: SessionName): Promise<boolean> {
    const options = { name: "sessions.is_known", isProven: true } as const;
    return await this.#documents.read(options, async (at) => {
      const [[session]] = await at.read({ from: SESSIONS, keys: keysOf(name) });
      return session !== undefined && session.expiresAtMs > at.nowMs;
    });
  }

  /**
   * Moves the end of a session that has not ended to a later time, durably; never to an earlier one. False, and nothing is
   * done, for one that has ended: no session begins again. D-9.3.
   */
  async extend(name: SessionName, expiresAtMs: number): Promise<boolean> {
    const options = { name: "sessions.extend", isProven: true } as const;
    return await this.#documents.transact(options, async (tx) => {
      const [[session]] = await tx.read({ from: SESSIONS, keys: keysOf(name) });
      if (session === undefined || session.expiresAtMs <= tx.nowMs) return false;
      if (expiresAtMs > session.expiresAtMs) tx.put(SESSIONS, { ...session, expiresAtMs });
      return true;
    });
  }

  /** Ends a session. Idempotent; durable when it resolves. */
  async end(name: SessionName): Promise<void> {
    await this.#documents.transact({ name: "sessions.end" }, async (tx) => {
      for (const key of keysOf(name)) tx.remove(SESSIONS, key);
    });
  }

  /** Ends all sessions of an account. Idempotent; durable when it resolves. */
  async endAllOf(username: string): Promise<void> {
    await this.#documents.transact({ name: "sessions.end_all" }, (tx) =>
      endSessionsOf(tx, username),
    );
  }
}

/** Ends the sessions of an account but one, or all of them, in the commit of a body. */
export async function endSessionsOf(
  tx: Transaction,
  username: string,
  keptId: string | null = null,
): Promise<void> {
  const [keys] = await tx.read({ from: SESSIONS, keysOf: { within: [[username]] } });
  for (const key of keys) if (key[1] !== keptId) tx.remove(SESSIONS, key);
}

/** None for what no session is named, as somebody may ask for anything. */
function keysOf({ username, id }: SessionName): readonly Key[] {
  return isKey([username, id]) ? [[username, id]] : [];
}

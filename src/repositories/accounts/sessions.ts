import { type Account, tokensAfterMs } from "../../domain/reputation/accounts/account.ts";
import {
  type AttemptCounter,
  forgottenUntil,
  longestWait,
  withEvents,
} from "../../domain/reputation/accounts/attempts.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import type { Transaction } from "../../ports/documents.ts";
import {
  ACCOUNTS,
  accountOf,
  findAccount,
  SESSIONS,
  type SessionDocument,
  SIGN_INS,
} from "../account-collections.ts";
import { Repository } from "../repository.ts";

/** Sessions past their end that one new session drops at most. */
const MAX_DROPPED = 100;

type SessionName = Pick<SessionDocument, "username" | "id">;

/** A password that was right, and when. */
interface CheckedPassword {
  readonly passwordHash: string | null;
  readonly atMs: number;
  /** Counters that get this sign-in as their only event. */
  readonly marks?: readonly AttemptCounter[];
}

/** Sessions that began here and have not ended, by the store's clock. */
export class Sessions extends Repository {
  /**
   * Begins a session, and keeps when the account signed in, in one durable commit: only while its password is the checked one, as
   * the account may change hands meanwhile. Resolves to the account, null for one that is gone or has another password; nothing is
   * written then, nor for a suspended account. Some sessions past their end are dropped as well.
   */
  async begin(session: SessionDocument, checked: CheckedPassword): Promise<Account | null> {
    return await this.writing("sessions.begin", async (tx) => {
      const [[account]] = await tx.read({ from: ACCOUNTS, keys: [[session.username]] });
      if (account?.passwordHash !== checked.passwordHash) return null;
      if (account.suspendedAtMs !== null) return accountOf(account);
      const signedIn = { ...account, lastSignInAtMs: checked.atMs };
      tx.put(ACCOUNTS, signedIn);
      for (const events of withEvents(checked.marks ?? [], [])) tx.put(SIGN_INS, events);
      await addSession(tx, session);
      return accountOf(signedIn);
    });
  }

  /** Keeps the end of a session that began elsewhere, durably, in the name of no account. */
  async noteEnd(id: string, keptUntilMs: number): Promise<void> {
    await this.writing("sessions.note_end", (tx) =>
      addSession(tx, { username: NO_ACCOUNT, id, expiresAtMs: keptUntilMs }),
    );
  }

  /** Whether a session that began elsewhere has ended, and its account, null for none. As fresh as `accountOf`. */
  async findForeign({ username, id }: SessionName) {
    const options = { name: "sessions.find_foreign", isProven: true } as const;
    return await this.reading(options, async (at) => {
      const [[end], [account]] = await at.read(
        { from: SESSIONS, keys: keysOf(NO_ACCOUNT, id) },
        { from: ACCOUNTS, keys: keysOf(username) },
      );
      const hasEnded = end !== undefined && end.expiresAtMs > at.nowMs;
      return { hasEnded, account: account === undefined ? null : accountOf(account) };
    });
  }

  /**
   * The account of a session that began here and has not ended; null for any other. Sees what any instance did once that has
   * resolved, whichever server answers: an end, a suspension, an erasure. D-6.3.
   */
  async accountOf({ username, id }: SessionName): Promise<Account | null> {
    const options = { name: "sessions.account_of", isProven: true } as const;
    return await this.reading(options, async (at) => {
      const keys = keysOf(username, id);
      const [[session], [account]] = await at.read(
        { from: SESSIONS, keys },
        { from: ACCOUNTS, keys: keys.map(([username = ""]) => [username]) },
      );
      const isKnown = session !== undefined && session.expiresAtMs > at.nowMs;
      return isKnown && account !== undefined ? accountOf(account) : null;
    });
  }

  /** Moves the end of an open session to a later time, durably. False for one that has ended: none begins again. D-9.3. */
  async extend({ username, id }: SessionName, expiresAtMs: number): Promise<boolean> {
    const options = { name: "sessions.extend", isProven: true } as const;
    return await this.writing(options, async (tx) => {
      const [[session]] = await tx.read({ from: SESSIONS, keys: keysOf(username, id) });
      if (session === undefined || session.expiresAtMs <= tx.nowMs) return false;
      if (expiresAtMs > session.expiresAtMs) tx.put(SESSIONS, { ...session, expiresAtMs });
      return true;
    });
  }

  /** Ends a session. Idempotent; durable when it resolves. */
  async end({ username, id }: SessionName): Promise<void> {
    await this.writing("sessions.end", async (tx) => {
      for (const key of keysOf(username, id)) tx.remove(SESSIONS, key);
    });
  }

  /** Ends all sessions of an account, those that began elsewhere by `tokensSinceMs`. Idempotent, durable. */
  async endAllOf(username: string): Promise<void> {
    await this.writing("sessions.end_all", async (tx) => {
      const account = await findAccount(tx, username);
      if (account === null) return;
      tx.put(ACCOUNTS, { ...account, tokensSinceMs: tokensAfterMs(tx.nowMs) });
      await endSessionsOf(tx, username);
    });
  }
}

/** The username of kept ends of sessions that began elsewhere: no account has it, so no erasure removes them. */
const NO_ACCOUNT = "";

/** Ends all sessions of an account, or all but one, in the commit of a body that locks or puts the account. */
export async function endSessionsOf(
  tx: Transaction,
  username: string,
  keptId: string | null = null,
): Promise<void> {
  const [keys] = await tx.read({ from: SESSIONS, keysOf: { within: [[username]] } });
  for (const key of keys) if (key[1] !== keptId) tx.remove(SESSIONS, key);
}

/** Keeps a session, and drops some of those past their end. */
async function addSession(tx: Transaction, session: SessionDocument): Promise<void> {
  const [[first]] = await tx.read({ from: SESSIONS, stretch: { index: "end", limit: 1 } });
  if (first !== undefined && first.expiresAtMs <= tx.nowMs) {
    // Places of sessions that end now begin with `nowMs`, and come after it.
    const ended = { index: "end", upTo: [tx.nowMs + 1], limit: MAX_DROPPED };
    const [dropped] = await tx.read({ from: SESSIONS, keysOf: ended });
    for (const key of dropped) tx.remove(SESSIONS, key);
  }
  tx.put(SESSIONS, session);
}

/** Counters without events that one `count` forgets at most. */
const MAX_FORGOTTEN = 100;

/**
 * Counts failed sign-ins and signups, to slow down guessing, and changes of accounts. D-5.4, D-8.5. Shared by all instances,
 * durably. An erasure removes what is counted of the person (`attemptsOf`).
 *
 * Parallel guesses must reveal no more than guesses one after the other. So ask `retryAfterSeconds` before looking at a password,
 * and again when it proved right; `count` when it proved wrong, and let the answer depend on `count`.
 */
export class SignIns extends Repository {
  /** As `longestWait`: the caller may go on where it is null. Counts nothing. */
  async retryAfterSeconds(counters: readonly AttemptCounter[]): Promise<number | null> {
    const keys = counters.map(({ key }) => key);
    const [known] = await this.ask("sign_ins.retry_after", { from: SIGN_INS, keys });
    return longestWait(counters, known);
  }

  /**
   * Counts one event on each counter and resolves to null; when one of them has reached its limit, counts nothing and resolves as
   * `retryAfterSeconds`. One step: no counter ever holds more events than its limit, however many callers count at once. Events
   * that no longer count are dropped. Nothing is counted for an `owner`, the account that acted, once it is erased. D-8.2.
   */
  async count(counters: readonly AttemptCounter[], owner?: string): Promise<number | null> {
    if (counters.length === 0) return null;
    const keys = counters.map(({ key }) => key);
    const ended = { index: "end", upTo: [forgottenUntil(counters)], limit: MAX_FORGOTTEN };
    return await this.writing("sign_ins.count", async (tx) => {
      const [known, forgotten, owners] = await tx.read(
        { from: SIGN_INS, keys },
        { from: SIGN_INS, keysOf: ended },
        { from: ACCOUNTS, keys: owner === undefined ? [] : [[owner]], lock: true },
      );
      if (owner !== undefined && owners.length === 0) return null;
      const wait = longestWait(counters, known);
      if (wait !== null) return wait;
      for (const key of forgotten) tx.remove(SIGN_INS, key);
      for (const events of withEvents(counters, known)) tx.put(SIGN_INS, events);
      return null;
    });
  }
}

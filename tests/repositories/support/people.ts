// Accounts for the suites of repositories, and what stands for names and people in them.
import { NodeMac } from "../../../src/adapters/node-crypto/node-crypto.ts";
import type { Account } from "../../../src/domain/reputation/accounts/account.ts";
import { erasedNameText } from "../../../src/domain/sync/people/name-facts.ts";
import type { DocumentStore } from "../../../src/ports/documents.ts";
import { findAccount, SESSIONS } from "../../../src/repositories/account-collections.ts";
import { Accounts, removeAccount } from "../../../src/repositories/accounts/accounts.ts";
import { Sessions } from "../../../src/repositories/accounts/sessions.ts";
import { Subjects } from "../../../src/repositories/lookups/audit-chains.ts";

/** The key of every audit log of the tests. */
export const AUDIT_KEY = new Uint8Array(32).fill(7);
/** The key of erased names. */
export const NAME_KEY = new Uint8Array(32).fill(9);
/** The function behind both. */
export const MAC = new NodeMac();

/** The HMACs of erased names. */
export const hmacOfName = (username: string) => MAC.hmacHex(NAME_KEY, erasedNameText(username));

/** Accounts and their sessions. */
export class People {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    const subjects = new Subjects(MAC, AUDIT_KEY);
    this.accounts = new Accounts({ documents, hmacOf: hmacOfName, subjects });
    this.sessions = new Sessions(documents);
    this.#documents = documents;
  }

  /** Begins a session of an account, far from its end. */
  async begin(id: string, username: string, expiresAtMs = 8_000_000_000_000): Promise<void> {
    const { passwordHash = null } = (await this.accounts.find(username)) ?? {};
    await this.sessions.begin({ id, username, expiresAtMs }, { passwordHash, atMs: 1 });
  }

  /** Leaves a session that no account has. */
  async leave(id: string, username: string): Promise<void> {
    await this.#documents.transact({ name: "test.leave" }, async (tx) => {
      tx.put(SESSIONS, { id, username, expiresAtMs: 8_000_000_000_000 });
    });
  }

  /** Whether a session of an account is known. */
  async isKnown(id: string, username: string): Promise<boolean> {
    return (await this.sessions.accountOf({ username, id })) !== null;
  }

  /** Removes an account, as an erasure does; false when there is none. */
  async remove(username: string): Promise<boolean> {
    return await this.#documents.transact({ name: "test.remove" }, async (tx) => {
      const account = await findAccount(tx, username);
      if (account !== null) await removeAccount(tx, account);
      return account !== null;
    });
  }
}

export function makeAccount(username: string, changes: Partial<Account> = {}): Account {
  return {
    username,
    email: null,
    passwordHash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA",
    role: "user",
    issuer: "repsync",
    plan: "free",
    callsPerMonth: null,
    rateLimitPerMinute: null,
    createdAtMs: 1_772_366_400_123,
    suspendedAtMs: null,
    lastSignInAtMs: null,
    ...changes,
  };
}

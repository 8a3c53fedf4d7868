// Accounts, keys and consents in memory. JavaScript runs one method at a time, so whatever a
// method does without `await` is one commit.

import {
  type Account,
  emailKey,
  isActiveAdministrator,
} from "../../../src/domain/reputation/accounts/account.ts";
import {
  revocationAlert,
  rotationAlert,
} from "../../../src/domain/reputation/accounts/account-alerts.ts";
import {
  boundKeys,
  type KeyRotation,
  planRotation,
  revokedKey,
  type StoredApiKey,
} from "../../../src/domain/reputation/accounts/api-key.ts";
import { attemptsOf } from "../../../src/domain/reputation/accounts/attempts.ts";
import {
  type Consent,
  type ConsentGrant,
  forgottenConsents,
  matchesFilter,
  planGrant,
  revokeConsent,
} from "../../../src/domain/reputation/accounts/consent.ts";
import { beginsWith } from "../../../src/domain/shared/document-key.ts";
import { isIssuedSince } from "../../../src/domain/sync/people/erasure.ts";
import type { NameFacts } from "../../../src/domain/sync/people/owned-row.ts";
import type {
  AccountConflict,
  AccountPage,
  AccountStore,
  PasswordChange,
} from "../../../src/ports/accounts/account-store.ts";
import type {
  ApiKeyStore,
  KeyPage,
  Revocation,
} from "../../../src/ports/accounts/api-key-store.ts";
import type { ConsentQuery, ConsentStore } from "../../../src/ports/accounts/consent-store.ts";
import { SESSIONS, SIGN_INS } from "../../../src/repositories/accounts/account-collections.ts";
import type { MemoryAlerts } from "./alerts.ts";
import type { MemoryDocuments } from "./documents.ts";
import type { MemoryErasedNames } from "./erased-names.ts";

/** Ends the sessions of an account but one, or all of them, in the caller's commit. */
export function endSessionsOf(
  documents: MemoryDocuments,
  username: string,
  keptId: string | null = null,
): void {
  const sessions = documents.readNow(SESSIONS).filter((one) => one.username === username);
  documents.writeNow((tx) => {
    for (const { id } of sessions) if (id !== keptId) tx.remove(SESSIONS, [username, id]);
  });
}

/** Forgets what is counted of an account, in the caller's commit. */
export function forgetAttempts(documents: MemoryDocuments, username: string): void {
  const { keys, beginning } = attemptsOf(username);
  const counted = documents
    .readNow(SIGN_INS)
    .filter(({ key }) => [...keys, beginning].some((one) => beginsWith(key, one)));
  documents.writeNow((tx) => {
    for (const { key } of counted) tx.remove(SIGN_INS, key);
  });
}

/** Accounts by username. */
export class MemoryAccountStore implements AccountStore {
  readonly #documents: MemoryDocuments;
  readonly #erasedNames: MemoryErasedNames;
  readonly #accounts = new Map<string, Account>();
  /** The names whose owner has set `public` to false. */
  readonly #hidden = new Set<string>();

  constructor(documents: MemoryDocuments, erasedNames: MemoryErasedNames) {
    this.#documents = documents;
    this.#erasedNames = erasedNames;
  }

  async create(
    account: Account,
    by?: { readonly tokenIssuedAtMs: number | null },
  ): Promise<"created" | AccountConflict | "erased_since"> {
    const erased = this.#erasedNames.find(account.username);
    const isOld = by !== undefined && erased !== null && !isIssuedSince(erased, by.tokenIssuedAtMs);
    return isOld ? "erased_since" : this.createNow(account);
  }

  async hasAdministrator(): Promise<boolean> {
    return [...this.#accounts.values()].some(({ role }) => role === "administrator");
  }

  async find(username: string): Promise<Account | null> {
    return this.findNow(username);
  }

  async list({ text, limit, afterUsername }: AccountPage): Promise<readonly Account[]> {
    const lower = (from: string) => from.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    const wanted = lower(text ?? "");
    const isWanted = ({ username, email }: Account) =>
      lower(username).includes(wanted) || lower(email ?? "").includes(wanted);
    return [...this.#accounts.values()]
      .filter((account) => account.username > (afterUsername ?? "") && isWanted(account))
      .sort((a, b) => Buffer.compare(Buffer.from(a.username), Buffer.from(b.username)))
      .slice(0, limit);
  }

  async noteSignIn(username: string, nowMs: number): Promise<void> {
    this.changeNow(username, { lastSignInAtMs: nowMs });
  }

  async changePassword(
    username: string,
    { from, to, keptSession }: PasswordChange,
  ): Promise<boolean> {
    const account = this.#accounts.get(username);
    if (account === undefined || account.passwordHash !== from) return false;
    this.#accounts.set(username, { ...account, passwordHash: to });
    endSessionsOf(this.#documents, username, keptSession);
    return true;
  }

  async remove(username: string): Promise<boolean> {
    return this.removeNow(username);
  }

  /** As `create`, in the caller's commit. */
  createNow(account: Account): "created" | AccountConflict {
    if (this.#accounts.has(account.username)) return "username_taken";
    if (this.#hasEmail(account.email)) return "email_taken";
    this.#accounts.set(account.username, account);
    endSessionsOf(this.#documents, account.username);
    this.#erasedNames.begin(account.username);
    return "created";
  }

  /** Changes fields of an account, in the caller's commit; null when there is none. */
  changeNow(username: string, changes: Partial<Account>): Account | null {
    const account = this.#accounts.get(username);
    if (account === undefined) return null;
    const changed = { ...account, ...changes };
    this.#accounts.set(username, changed);
    return changed;
  }

  /** Whether nobody else could administer without this account. */
  isLastAdministrator(account: Account): boolean {
    const active = [...this.#accounts.values()].filter(isActiveAdministrator);
    return active.length === 1 && active[0]?.username === account.username;
  }

  /** As `find`, in the caller's commit. */
  findNow(username: string): Account | null {
    return this.#accounts.get(username) ?? null;
  }

  /** As `remove`, in the caller's commit. */
  removeNow(username: string): boolean {
    endSessionsOf(this.#documents, username);
    this.#hidden.delete(username);
    return this.#accounts.delete(username);
  }

  /** Keeps whether the owner has hidden the profile, in the caller's commit. */
  noteHidden(username: string, isHidden: boolean): void {
    if (isHidden) this.#hidden.add(username);
    else this.#hidden.delete(username);
  }

  /** What rows that arrive for this name meet; null for nothing. D-8.1, D-8.2. */
  factsOf(username: string): NameFacts | null {
    const ownsProfile = typeof this.findNow(username)?.passwordHash === "string";
    const hidesProfile = this.#hidden.has(username);
    const erased = this.#erasedNames.find(username);
    const isKnown = ownsProfile || hidesProfile || erased !== null;
    return isKnown ? { ownsProfile, hidesProfile, erased } : null;
  }

  #hasEmail(email: string | null): boolean {
    if (email === null) return false;
    const emails = [...this.#accounts.values()].map((account) => account.email);
    return emails.some((other) => other !== null && emailKey(other) === emailKey(email));
  }
}

/** API keys in the order in which they were made. */
export class MemoryApiKeyStore implements ApiKeyStore {
  readonly #accounts: MemoryAccountStore;
  readonly #alerts: MemoryAlerts;
  readonly #keys = new Map<string, StoredApiKey>();

  constructor(accounts: MemoryAccountStore, alerts: MemoryAlerts) {
    this.#accounts = accounts;
    this.#alerts = alerts;
  }

  async create(key: StoredApiKey, nowMs: number): Promise<"created" | "full" | "no_account"> {
    if (this.#accounts.findNow(key.username) === null) return "no_account";
    if (this.#bound(key.username, nowMs).isFull) return "full";
    this.#keys.set(key.id, key);
    return "created";
  }

  async list(username: string, { limit, beforeId }: KeyPage): Promise<readonly StoredApiKey[]> {
    const newest = [...this.#keys.values()].filter((key) => key.username === username).reverse();
    const before = newest.findIndex(({ id }) => id === beforeId);
    if (beforeId !== null && before === -1) return [];
    return newest.slice(before + 1, before + 1 + limit);
  }

  async revoke(username: string, { id, nowMs }: Revocation<string>): Promise<StoredApiKey | null> {
    const key = this.#find(username, id);
    if (key === null) return null;
    const revoked = revokedKey(key, nowMs);
    this.#keys.set(id, revoked);
    this.#bound(username, nowMs);
    this.#alerts.tell(revocationAlert(key, nowMs));
    return revoked;
  }

  async rotate(username: string, rotation: KeyRotation): Promise<StoredApiKey | "conflict" | null> {
    const key = this.#find(username, rotation.id);
    if (key === null) return null;
    const plan = planRotation(key, rotation);
    if (plan === null) return "conflict";
    this.#alerts.tell(rotationAlert(key));
    for (const kept of [plan.old, plan.successor]) this.#keys.set(kept.id, kept);
    this.#bound(username, rotation.nowMs);
    return plan.successor;
  }

  /** The key with this hash; null when there is none. */
  findByHash(hash: string): StoredApiKey | null {
    return [...this.#keys.values()].find((key) => key.hash === hash) ?? null;
  }

  /** Removes every key of an account, in the caller's commit. */
  removeAllOf(username: string): void {
    for (const key of this.#keys.values()) {
      if (key.username === username) this.#keys.delete(key.id);
    }
  }

  #bound(username: string, nowMs: number): { readonly isFull: boolean } {
    const all = [...this.#keys.values()].filter((key) => key.username === username);
    const { isFull, forgotten } = boundKeys(all, nowMs);
    for (const id of forgotten) this.#keys.delete(id);
    return { isFull };
  }

  #find(username: string, id: string): StoredApiKey | null {
    const key = this.#keys.get(id);
    return key?.username === username ? key : null;
  }
}

/** Consents by id. */
export class MemoryConsentStore implements ConsentStore {
  readonly #accounts: MemoryAccountStore;
  readonly #consents = new Map<number, Consent>();
  /** Outlives the consents: an id is never given twice. */
  #lastId = 0;

  constructor(accounts: MemoryAccountStore) {
    this.#accounts = accounts;
  }

  async grant(username: string, grant: ConsentGrant): Promise<Consent | null> {
    if (this.#accounts.findNow(username) === null) return null;
    const { superseded, granted } = planGrant(username, this.allOf(username), grant);
    const consent: Consent = { id: ++this.#lastId, ...granted };
    for (const kept of [...superseded, consent]) this.#consents.set(kept.id, kept);
    this.#forget(username, grant.nowMs);
    return consent;
  }

  async revoke(username: string, { id, nowMs }: Revocation<number>): Promise<Consent | null> {
    const consent = this.#consents.get(id);
    if (consent?.username !== username) return null;
    const revoked = revokeConsent(consent, nowMs);
    this.#consents.set(id, revoked);
    this.#forget(username, nowMs);
    return revoked;
  }

  async list(username: string, query: ConsentQuery): Promise<readonly Consent[]> {
    const { filter, nowMs, limit, beforeId } = query;
    return this.allOf(username)
      .filter(({ id }) => beforeId === null || id < beforeId)
      .filter((consent) => matchesFilter(consent, filter, nowMs))
      .reverse()
      .slice(0, limit);
  }

  #forget(username: string, nowMs: number): void {
    for (const id of forgottenConsents(this.allOf(username), nowMs)) this.#consents.delete(id);
  }

  /** Every consent of a person, the oldest first. */
  allOf(username: string): Consent[] {
    return [...this.#consents.values()].filter((consent) => consent.username === username);
  }

  /** Removes every consent of a person, in the caller's commit. */
  removeAllOf(username: string): void {
    for (const { id } of this.allOf(username)) this.#consents.delete(id);
  }
}

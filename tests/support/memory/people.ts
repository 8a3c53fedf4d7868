// People in memory: their rows in the synchronized tables, what names them in the audit, and how they come and go.

import type { Account } from "../../../src/domain/reputation/accounts/account.ts";
import { firstProfile } from "../../../src/domain/reputation/accounts/membership.ts";
import type { AccountPlan } from "../../../src/domain/reputation/accounts/plan.ts";
import {
  type AdminAct,
  type AdminRequest,
  actedOnText,
  adminEntry,
} from "../../../src/domain/reputation/audit/admin-entry.ts";
import type { AuditEntry } from "../../../src/domain/reputation/audit/audit-chain.ts";
import {
  changedColumns,
  type ProfileChanges,
} from "../../../src/domain/reputation/score/profile.ts";
import type { JsonObject } from "../../../src/domain/shared/json.ts";
import { formatMs } from "../../../src/domain/shared/time.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { AccountConflict } from "../../../src/ports/accounts/account-store.ts";
import type { Administration } from "../../../src/ports/accounts/administration.ts";
import type { Enrolment, Membership } from "../../../src/ports/accounts/membership.ts";
import type { ProfileStore, StoredPerson } from "../../../src/ports/accounts/profile-store.ts";
import type { Mac } from "../../../src/ports/crypto/crypto.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import { DROPPED, REJECTED, REJECTED_TEXTS } from "../../../src/repositories/run-collections.ts";
import {
  endSessionsOf,
  forgetAttempts,
  type MemoryAccountStore,
  type MemoryApiKeyStore,
  type MemoryConsentStore,
} from "./accounts.ts";
import type { MemoryAlerts } from "./alerts.ts";
import type { MemoryDocuments } from "./documents.ts";
import type { MemoryErasedNames } from "./erased-names.ts";
import type { MemoryTables } from "./tables.ts";
import type { MemoryUsageStore } from "./usage.ts";

const ID_BYTES = 8;
const KEY_BYTES = 32;

/** The rows of one synchronized table by the username in them. A registry may give the table any columns. */
export class PersonRows {
  readonly #storage: MemoryTables;
  readonly #table: Table;

  constructor(storage: MemoryTables, table: Table) {
    this.#storage = storage;
    this.#table = table;
  }

  get tableName(): string {
    return this.#table.name;
  }

  /** Every row of a person. */
  read(username: string): readonly JsonObject[] {
    const rows = this.#storage.sortedRows(this.#table);
    return rows.filter((row) => row["username"] === username);
  }

  /** Puts the given fields, as far as the table has such columns, over a row or in a new one. */
  put(before: Row, fields: Row): void {
    const known = this.#table.columns.filter(({ name }) => Object.hasOwn(fields, name));
    const changed = Object.fromEntries(known.map(({ name }) => [name, fields[name] ?? null]));
    this.#storage.writeOwn(this.#table, { ...before, ...changed });
  }

  /** Removes every row of a person, without a tombstone. D-7.6. */
  remove(username: string): void {
    for (const row of this.read(username)) this.#storage.erase(this.#table, row);
    this.#storage.tombstones.forgetWith(this.#table, "username", username);
  }
}

/** What stands for a person in the audit: an id for callers, an HMAC for those looked up. */
export class Subjects {
  readonly #mac: Mac;
  readonly #auditKey: Uint8Array;
  readonly #subjects = new Map<string, { readonly id: string; readonly key: Uint8Array }>();

  constructor(mac: Mac, auditKey: Uint8Array) {
    this.#mac = mac;
    this.#auditKey = auditKey;
  }

  /** The id of an account, made when it has none. */
  accountId(username: string): string {
    return this.#findOrMake(username).id;
  }

  /** The id of an account; null when it has none. */
  knownAccountId(username: string): string | null {
    return this.#subjects.get(username)?.id ?? null;
  }

  /** All that may stand for a name: with and without a key of its own, looked up or acted on. */
  everyHmac(username: string): readonly string[] {
    const own = this.knownHmac(username);
    return [
      ...(own === null ? [] : [own, this.hmacOfActedOn(username)]),
      this.hmacOfNobody(username),
      this.#mac.hmacHex(this.#auditKey, actedOnText(username)),
    ];
  }

  /** Whose id it is; null once they are erased. */
  usernameOf(accountId: string): string | null {
    const found = [...this.#subjects].find(([, { id }]) => id === accountId);
    return found?.[0] ?? null;
  }

  /** What names a person who can be found, by a key of their own, made when there is none. */
  hmac(username: string): string {
    return this.#mac.hmacHex(this.#findOrMake(username).key, username);
  }

  /** As `hmac`; null for a person without a key, who was never looked up. */
  knownHmac(username: string): string | null {
    return this.#subjects.has(username) ? this.hmac(username) : null;
  }

  /** What stands for whom an administrator did something to, by their own key where they have one. */
  hmacOfActedOn(username: string): string {
    const key = this.#subjects.get(username)?.key ?? this.#auditKey;
    return this.#mac.hmacHex(key, actedOnText(username));
  }

  /** What stands for a name that cannot be found: no key is kept for it. */
  hmacOfNobody(username: string): string {
    return this.#mac.hmacHex(this.#auditKey, `repsync.audit.nobody.v1\n${username}`);
  }

  /** Destroys the key: the person's audit records name nobody from then on. */
  forget(username: string): void {
    this.#subjects.delete(username);
  }

  #findOrMake(username: string) {
    const found = this.#subjects.get(username);
    if (found !== undefined) return found;
    const id = this.#mac.randomBytes(ID_BYTES).toHex();
    const made = { id, key: this.#mac.randomBytes(KEY_BYTES) };
    this.#subjects.set(username, made);
    return made;
  }
}

/** A person's rows in both synchronized tables. */
export interface PeopleTables {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
}

/** Profiles in the synchronized tables. */
export class MemoryProfileStore implements ProfileStore {
  readonly #tables: PeopleTables;
  readonly #accounts: MemoryAccountStore;

  constructor(tables: PeopleTables, accounts: MemoryAccountStore) {
    this.#tables = tables;
    this.#accounts = accounts;
  }

  async read(username: string): Promise<StoredPerson> {
    const [profile = null] = this.#tables.profiles.read(username);
    return { profile, accounts: this.#tables.platformAccounts.read(username) };
  }

  async change(
    username: string,
    changes: ProfileChanges,
    nowMs: number,
  ): Promise<JsonObject | null> {
    const { profiles } = this.#tables;
    const [profile] = profiles.read(username);
    if (profile === undefined) return null;
    const columns = changedColumns(profile, changes, nowMs);
    if (Object.keys(columns).length === 0) return profile;
    if (changes.public !== undefined) this.#accounts.noteHidden(username, !changes.public);
    for (const row of profiles.read(username)) profiles.put(row, columns);
    return profiles.read(username)[0] ?? null;
  }
}

/** Everything that goes when a person goes. */
export interface MembershipDeps extends PeopleTables {
  readonly accounts: MemoryAccountStore;
  readonly documents: MemoryDocuments;
  readonly apiKeys: MemoryApiKeyStore;
  readonly consents: MemoryConsentStore;
  readonly usage: MemoryUsageStore;
  readonly subjects: Subjects;
  readonly erasedNames: MemoryErasedNames;
  readonly alerts: MemoryAlerts;
  readonly clock: Clock;
  /** For a record of what an administrator did. */
  readonly beginChain: () => { append(entries: readonly AuditEntry[]): void };
}

/** How people come and go. */
export class MemoryMembership implements Membership {
  readonly #deps: MembershipDeps;

  constructor(deps: MembershipDeps) {
    this.#deps = deps;
  }

  async enrol({ account, displayName }: Enrolment): Promise<"enrolled" | AccountConflict> {
    const { accounts, profiles, platformAccounts } = this.#deps;
    const { username } = account;
    const rows = [profiles, platformAccounts].flatMap((table) => table.read(username));
    const isTaken = this.#deps.erasedNames.find(username)?.isTaken ?? false;
    if (isTaken || rows.length > 0) return "username_taken";
    const outcome = accounts.createNow(account);
    if (outcome !== "created") return outcome;
    profiles.put({}, firstProfile(account, displayName));
    return "enrolled";
  }

  async erase(
    username: string,
    request?: AdminRequest,
  ): Promise<"erased" | "last_administrator" | "absent"> {
    const { accounts, apiKeys, consents, usage, subjects, documents, erasedNames } = this.#deps;
    const account = accounts.findNow(username);
    if (account === null) return "absent";
    if (accounts.isLastAdministrator(account)) return "last_administrator";
    if (request !== undefined) noteAct(this.#deps, { action: "erase", username, ...request });
    accounts.removeNow(username);
    const month = usage.forget(username) ?? erasedNames.find(username)?.month ?? null;
    erasedNames.keep(username, { at: formatMs(this.#deps.clock.nowMs()), month });
    apiKeys.removeAllOf(username);
    consents.removeAllOf(username);
    subjects.forget(username);
    forgetAttempts(documents, username);
    this.#deps.platformAccounts.remove(username);
    this.#deps.profiles.remove(username);
    const { profiles, platformAccounts, alerts } = this.#deps;
    alerts.dropOf(username);
    forgetRejectedNow(documents, [profiles.tableName, platformAccounts.tableName], username);
    return "erased";
  }
}

function forgetRejectedNow(
  documents: MemoryDocuments,
  tables: readonly string[],
  username: string,
): void {
  const isNamed = (one: { readonly table: string; readonly person?: string }) =>
    one.person === username && tables.includes(one.table);
  const rejected = documents.readNow(REJECTED).filter(isNamed);
  const texts = documents
    .readNow(REJECTED_TEXTS)
    .filter(({ number }) => rejected.some((one) => one.number === number));
  const dropped = documents.readNow(DROPPED).filter(isNamed);
  documents.writeNow((tx) => {
    for (const one of rejected) tx.remove(REJECTED, REJECTED.keyOf(one));
    for (const one of texts) tx.remove(REJECTED_TEXTS, REJECTED_TEXTS.keyOf(one));
    for (const one of dropped) tx.remove(DROPPED, DROPPED.keyOf(one));
  });
}

/** What administrators do. */
export class MemoryAdministration implements Administration {
  readonly #deps: MembershipDeps;

  constructor(deps: MembershipDeps) {
    this.#deps = deps;
  }

  async suspend(
    username: string,
    request: AdminRequest,
    nowMs: number,
  ): Promise<Account | "last_administrator" | null> {
    const { accounts, documents } = this.#deps;
    const account = accounts.findNow(username);
    if (account === null) return null;
    if (accounts.isLastAdministrator(account)) return "last_administrator";
    endSessionsOf(documents, username);
    noteAct(this.#deps, { action: "suspend", username, ...request });
    return accounts.changeNow(username, { suspendedAtMs: account.suspendedAtMs ?? nowMs });
  }

  async restore(username: string, request: AdminRequest): Promise<Account | null> {
    const changed = this.#deps.accounts.changeNow(username, { suspendedAtMs: null });
    if (changed !== null) noteAct(this.#deps, { action: "restore", username, ...request });
    return changed;
  }

  async changePlan(
    username: string,
    plan: AccountPlan,
    request: AdminRequest,
  ): Promise<Account | null> {
    const changed = this.#deps.accounts.changeNow(username, plan);
    if (changed !== null) noteAct(this.#deps, { action: "plan", username, ...request });
    return changed;
  }

  async setPassword(
    username: string,
    passwordHash: string,
    request: AdminRequest,
  ): Promise<"changed" | "no_password" | null> {
    const { accounts, documents } = this.#deps;
    const account = accounts.findNow(username);
    if (account === null) return null;
    if (account.passwordHash === null) return "no_password";
    endSessionsOf(documents, username);
    accounts.changeNow(username, { passwordHash });
    noteAct(this.#deps, { action: "password", username, ...request });
    return "changed";
  }

  async release(username: string, request: AdminRequest): Promise<boolean> {
    if (!this.#deps.erasedNames.release(username)) return false;
    noteAct(this.#deps, { action: "release", username, ...request });
    return true;
  }
}

/** Keeps the record of an act, in the caller's commit. */
function noteAct({ subjects, clock, beginChain }: MembershipDeps, act: AdminAct): void {
  const entry = adminEntry(act, {
    nowMs: clock.nowMs(),
    accountId: act.by === null ? "" : subjects.accountId(act.by),
    subjectHmac: subjects.hmacOfActedOn(act.username),
  });
  beginChain().append([entry]);
}

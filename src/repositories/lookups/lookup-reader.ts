// Reads what batches of lookups need, from caches or the store, each value at the moment of its version. The transaction of a batch
// tells whether cached values are current, before anything is decided.

import { effectiveLimits } from "../../domain/reputation/accounts/plan.ts";
import type {
  LookupCall,
  LookupCaller,
  LookupSubject,
} from "../../domain/reputation/lookups/lookup-batch.ts";
import { isPublicProfile } from "../../domain/reputation/score/profile.ts";
import { isKey, type Key } from "../../domain/shared/document-key.ts";
import {
  MAX_REMEMBERED_ABSENT_NAME_CHARS,
  MAX_REMEMBERED_ABSENT_NAMES,
  MAX_REMEMBERED_LOOKUPS,
} from "../../domain/shared/limits.ts";
import type { Row, Table } from "../../domain/sync/table/table.ts";
import type { Reader } from "../../ports/documents.ts";
import type { ValueCache } from "../../ports/runtime/runtime.ts";
import {
  ACCOUNTS,
  CONSENTS,
  KEYS,
  SUBJECTS,
  type SubjectDocument,
} from "../account-collections.ts";
import type { Subjects } from "./audit-chains.ts";

/** The tables that lookups read. */
export interface PeopleTables {
  readonly profiles: Table;
  readonly platformAccounts: Table;
}

export interface LookupReaderDeps {
  readonly people: PeopleTables;
  readonly subjects: Subjects;
  /** Makes a cache of at most so many values, which may forget any of them at any time. */
  readonly makeCache: <Value extends object>(maxEntries: number) => ValueCache<Value>;
}

export class LookupReader {
  readonly #tables: PeopleTables;
  readonly #subjects: Subjects;
  readonly #callers: ValueCache<Versioned<OwnedCaller>>;
  readonly #people: ValueCache<Versioned<LookupSubject>>;
  /** Names of nobody, apart, so that made-up ones push no person out. */
  readonly #absent: ValueCache<Versioned<LookupSubject>>;

  constructor({ people, subjects, makeCache }: LookupReaderDeps) {
    this.#tables = people;
    this.#subjects = subjects;
    this.#callers = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#people = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#absent = makeCache(MAX_REMEMBERED_ABSENT_NAMES);
  }

  /** Gives a batch what it lacks, from the caches or the moment of a body. Throws `store_unavailable`. */
  async fill(facts: BatchFacts, at: Reader): Promise<void> {
    const { keyHashes, callers, usernames, people, stale } = facts;
    const hashes = keyHashes.filter((hash) => {
      const found = callers.get(hash) ?? (stale.has(hash) ? null : this.#callers.get(hash));
      if (found !== null) callers.set(hash, found);
      return found === null;
    });
    if (hashes.length > 0) await this.#readCallers(at, facts, hashes);
    // Without a valid key no person is read.
    if (facts.accountIds.length === 0) return;
    const find = (name: string) => this.#people.get(name) ?? this.#absent.get(name);
    const names = usernames.filter((name) => {
      const found = people.get(name) ?? (stale.has(name) ? null : find(name));
      if (found !== null) people.set(name, found);
      return found === null;
    });
    if (names.length > 0) await this.#readPeople(at, facts, names);
  }

  /** Caches what was read for a committed batch. */
  keep({ callers, people, fresh }: BatchFacts): void {
    if (fresh.size === 0) return;
    for (const [hash, { value, version }] of callers) {
      if (value !== null && fresh.has(hash)) this.#callers.set(hash, { value, version });
    }
    for (const [username, held] of people) {
      if (!fresh.has(username)) continue;
      const isThere = held.value.profile !== null;
      const [own, other] = isThere ? [this.#people, this.#absent] : [this.#absent, this.#people];
      other.delete(username);
      if (isThere || username.length <= MAX_REMEMBERED_ABSENT_NAME_CHARS) own.set(username, held);
    }
  }

  /** Forgets everything that is cached. */
  clear(): void {
    for (const cache of [this.#callers, this.#people, this.#absent]) cache.clear();
  }

  async #readCallers(at: Reader, facts: BatchFacts, hashes: readonly string[]): Promise<void> {
    const within = hashes.map((hash) => [hash]);
    const stretch = { index: "hash", within, limit: within.length };
    const [keys] = await at.read({ from: KEYS, stretch });
    const owners = [...new Set(keys.map(({ username }) => username))];
    const names = [...owners, ...hashes];
    const [accounts, subjects, versions] = await at.read(
      { from: ACCOUNTS, keys: owners.map((name) => [name]) },
      { from: SUBJECTS, keys: owners.map((name) => [name]) },
      { versionsOf: names },
    );
    const versionOf = byName(names, versions);
    const keyOf = new Map(keys.map((key) => [key.hash, key]));
    const accountOf = new Map(accounts.map((account) => [account.username, account]));
    const subjectOf = new Map(subjects.map((subject) => [subject.username, subject]));
    for (const hash of hashes) {
      facts.fresh.add(hash);
      const key = keyOf.get(hash);
      const account = accountOf.get(key?.username ?? "");
      if (key === undefined || account === undefined) {
        facts.callers.set(hash, { value: null, version: versionOf(hash) });
        continue;
      }
      const { id, username, expiresAt, revokedAt, isRevoked } = key;
      const value = {
        username,
        key: { id, expiresAt, revokedAt, isRevoked },
        accountId: this.#subjectOf(facts, username, subjectOf.get(username)).id,
        isSuspended: account.suspendedAtMs !== null,
        limits: effectiveLimits(account),
      };
      facts.callers.set(hash, { value, version: versionOf(username) });
    }
  }

  /** Reads as much of a hidden person as of an absent one. D-8.5. */
  async #readPeople(at: Reader, facts: BatchFacts, usernames: readonly string[]): Promise<void> {
    const subjects = this.#subjects;
    const { profiles, platformAccounts } = this.#tables;
    const named = usernames.filter((name) => isKey([name]));
    const [rows, kept, versions] = await at.read(
      { rowsOf: profiles, where: ["username", named] },
      { from: SUBJECTS, keys: named.map((name) => [name]) },
      { versionsOf: usernames },
    );
    const subjectOf = new Map(kept.map((subject) => [subject.username, subject]));
    const versionOf = byName(usernames, versions);
    const profileOf = new Map(rows.toReversed().map((row) => [String(row["username"]), row]));
    const keep = (username: string, value: LookupSubject) => {
      facts.fresh.add(username);
      facts.people.set(username, { value, version: versionOf(username) });
    };
    const found: string[] = [];
    for (const username of usernames) {
      const profile = profileOf.get(username);
      if (profile !== undefined && isPublicProfile(profile)) found.push(username);
      else {
        const subject = subjectOf.get(username);
        const subjectHmac = subject ? subjects.hmacOf(subject) : subjects.hmacOfAbsent(username);
        keep(username, { profile: null, accounts: [], consents: [], subjectHmac });
      }
    }
    if (found.length === 0) return;
    const within = found.map((name): Key => [name]);
    const [platformRows, consents] = await at.read(
      { rowsOf: platformAccounts, where: ["username", found] },
      { from: CONSENTS, stretch: { index: "open", within } },
    );
    const accountsOf = Map.groupBy(platformRows, (row: Row) => String(row["username"]));
    const consentsOf = Map.groupBy(consents, ({ username }) => username);
    for (const username of found) {
      const subject = this.#subjectOf(facts, username, subjectOf.get(username));
      keep(username, {
        profile: profileOf.get(username) ?? null,
        accounts: accountsOf.get(username) ?? [],
        consents: consentsOf.get(username) ?? [],
        subjectHmac: subjects.hmacOf(subject),
      });
    }
  }

  /** A person's id and key: the stored ones, or new ones for the batch to keep. */
  #subjectOf(
    facts: BatchFacts,
    username: string,
    stored: SubjectDocument | undefined,
  ): SubjectDocument {
    const known = stored ?? facts.newSubjects.get(username);
    if (known !== undefined) return known;
    const made = this.#subjects.make(username);
    facts.newSubjects.set(username, made);
    return made;
  }
}

function byName(names: readonly string[], versions: readonly number[]): (name: string) => number {
  const known = new Map(names.map((name, i) => [name, versions[i] ?? Number.NaN]));
  return (name) => known.get(name) ?? Number.NaN;
}

/** A caller with the username of its account, whose version counts for it. */
export interface OwnedCaller extends LookupCaller {
  readonly username: string;
}

interface Versioned<Value> {
  readonly value: Value;
  readonly version: number;
}

/** The callers and people of one batch, each with the version it was read at, whatever caches evict. */
export class BatchFacts {
  readonly keyHashes: readonly string[];
  readonly usernames: readonly string[];
  /** Callers by key hash; null for a key that is missing or has no account. */
  readonly callers = new Map<string, Versioned<OwnedCaller | null>>();
  /** People by username. */
  readonly people = new Map<string, Versioned<LookupSubject>>();
  /** Key hashes and usernames that were read for this batch. */
  readonly fresh = new Set<string>();
  /** Key hashes and usernames whose cached values are outdated. */
  readonly stale = new Set<string>();
  /** Ids and keys that people get with the commit of this batch, by username. */
  readonly newSubjects = new Map<string, SubjectDocument>();

  constructor(calls: readonly LookupCall[]) {
    this.keyHashes = [...new Set(calls.map(({ keyHash }) => keyHash))];
    this.usernames = [...new Set(calls.map(({ username }) => username))];
  }

  /** The accounts of the callers, by the ids that the audit names them by; one for each key. */
  get accountIds(): readonly string[] {
    const callers = [...this.callers.values()];
    return callers.flatMap(({ value }) => value?.accountId ?? []);
  }

  /** The names whose versions prove what is held: owners, people, and the hashes of missing keys. */
  get versionedNames(): readonly string[] {
    const owners = this.callers.entries().map(([hash, { value }]) => value?.username ?? hash);
    return [...new Set([...owners, ...this.people.keys()])];
  }

  /** Drops what was read at other versions than these of `names`; true when all was current. */
  dropOutdated(names: readonly string[], versions: readonly number[]): boolean {
    const current = new Map(names.map((name, i) => [name, versions[i]]));
    let areAllCurrent = true;
    const drop = (held: Map<string, Versioned<object | null>>, nameOf: (key: string) => string) => {
      for (const [key, { version }] of held) {
        const name = nameOf(key);
        if (current.get(name) === version) continue;
        held.delete(key);
        this.newSubjects.delete(name);
        this.stale.add(key);
        areAllCurrent = false;
      }
    };
    drop(this.callers, (hash) => this.callerOf(hash)?.username ?? hash);
    drop(this.people, (username) => username);
    return areAllCurrent;
  }

  /** Drops ids and keys that were not kept, with their people: another instance may have made others. */
  dropNewSubjects(): void {
    for (const [hash, { value }] of this.callers) {
      if (value !== null && this.newSubjects.has(value.username)) this.callers.delete(hash);
    }
    for (const username of this.newSubjects.keys()) this.people.delete(username);
    this.newSubjects.clear();
  }

  readonly callerOf = (keyHash: string) => this.callers.get(keyHash)?.value ?? null;

  readonly subjectOf = (username: string) => {
    const held = this.people.get(username);
    if (held === undefined) throw new Error("A person was not read");
    return held.value;
  };
}

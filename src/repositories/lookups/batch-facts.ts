import type {
  LookupCall,
  LookupCaller,
  LookupSubject,
} from "../../domain/reputation/lookups/lookup-batch.ts";
import {
  MAX_REMEMBERED_ABSENT_NAME_CHARS,
  MAX_REMEMBERED_ABSENT_NAMES,
  MAX_REMEMBERED_LOOKUPS,
} from "../../domain/shared/limits.ts";
import type { ValueCache } from "../../ports/runtime/value-cache.ts";
import type { SubjectDocument } from "../account-collections.ts";

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

  /** True when any of the keys is known to belong to an account. */
  get hasCallers(): boolean {
    return this.callers.values().some(({ value }) => value !== null);
  }

  /** The accounts of the callers, by the ids that the audit names them by. */
  get accountIds(): readonly string[] {
    const ids = this.callers
      .values()
      .flatMap(({ value }) => (value === null ? [] : [value.accountId]));
    return [...new Set(ids)];
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
    drop(this.callers, (hash) => this.caller(hash)?.username ?? hash);
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

  caller(keyHash: string): OwnedCaller | null {
    return this.callers.get(keyHash)?.value ?? null;
  }

  person(username: string): LookupSubject {
    const held = this.people.get(username);
    if (held === undefined) throw new Error("A person was not read");
    return held.value;
  }
}

// The cache of callers and people for lookups, each with the version it was read at. The transaction of a batch tells whether that
// is current, before anything is decided.

/** Makes a cache of at most `maxEntries` values. A cache may forget any of them at any time. */
export type MakeCache = <Value extends object>(maxEntries: number) => ValueCache<Value>;

export class LookupCache {
  readonly #callers: ValueCache<Versioned<OwnedCaller>>;
  readonly #people: ValueCache<Versioned<LookupSubject>>;
  /** Names of nobody, apart, so that made-up ones push no person out. */
  readonly #absent: ValueCache<Versioned<LookupSubject>>;

  constructor(makeCache: MakeCache) {
    this.#callers = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#people = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#absent = makeCache(MAX_REMEMBERED_ABSENT_NAMES);
  }

  /** Gives a batch what it lacks; returns the key hashes that it still lacks. */
  findCallers({ keyHashes, callers, stale }: BatchFacts): readonly string[] {
    return keyHashes.filter((hash) => {
      const found = callers.get(hash) ?? (stale.has(hash) ? null : this.#callers.get(hash));
      if (found !== null) callers.set(hash, found);
      return found === null;
    });
  }

  /** As `findCallers`, of people; returns usernames. */
  findPeople({ usernames, people, stale }: BatchFacts): readonly string[] {
    const find = (name: string) => this.#people.get(name) ?? this.#absent.get(name);
    return usernames.filter((name) => {
      const found = people.get(name) ?? (stale.has(name) ? null : find(name));
      if (found !== null) people.set(name, found);
      return found === null;
    });
  }

  /** Keeps what was read for a committed batch. */
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

  clear(): void {
    for (const cache of [this.#callers, this.#people, this.#absent]) cache.clear();
  }
}

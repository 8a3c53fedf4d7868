// The cache of callers and people for lookups: each with the version it was read at. Whether that is still the version is told by
// the transaction of a batch, before anything is decided.
import type { LookupSubject } from "../../domain/reputation/lookups/lookup.ts";
import {
  MAX_REMEMBERED_ABSENT_NAME_CHARS,
  MAX_REMEMBERED_ABSENT_NAMES,
  MAX_REMEMBERED_LOOKUPS,
} from "../../domain/shared/limits.ts";
import type { ValueCache } from "../../ports/lookups/value-cache.ts";
import type { BatchFacts, OwnedCaller, Versioned } from "./batch-facts.ts";

/** Makes a cache of at most so many entries; one that remembers nothing will do. */
type MakeCache = <Value extends object>(maxEntries: number) => ValueCache<Value>;

export class LookupCache {
  /** Callers by key hash. */
  readonly #callers: ValueCache<Versioned<OwnedCaller>>;
  /** People by username. */
  readonly #people: ValueCache<Versioned<LookupSubject>>;
  /** Names that cannot be found, apart, so that made-up ones evict no people. */
  readonly #absent: ValueCache<Versioned<LookupSubject>>;

  constructor(makeCache: MakeCache) {
    this.#callers = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#people = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#absent = makeCache(MAX_REMEMBERED_ABSENT_NAMES);
  }

  /** Gives a batch what it does not hold yet; returns the key hashes that it still lacks. */
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

  /** Forgets everything. */
  clear(): void {
    for (const cache of [this.#callers, this.#people, this.#absent]) cache.clear();
  }
}

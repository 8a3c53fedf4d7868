// What lookups keep of callers and people, in caches that give a value only for its version. Which version a name most
// likely has is known from the last transaction that read it; whether it has is told by the transaction of the batch.
import type { LookupSubject } from "../../../domain/reputation/lookups/lookup.ts";
import type { LimitedCaller } from "../../../domain/reputation/lookups/lookup-batch.ts";
import {
  MAX_REMEMBERED_ABSENT_NAME_CHARS,
  MAX_REMEMBERED_ABSENT_NAMES,
  MAX_REMEMBERED_LOOKUPS,
} from "../../../domain/shared/limits.ts";
import type { VersionedCache } from "../../../ports/lookups/versioned-cache.ts";
import type { ReputationOptions } from "../../../ports/reputation-stores.ts";
import { type PersonVersions, versionSlotOf } from "../driver/person-versions.ts";

/** A key's caller, and the username of its account, whose version counts for it. */
export interface OwnedCaller extends LimitedCaller {
  readonly username: string;
}

/** A value, and the version that it was read at. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly version: number;
}

/** The account of a key hash never changes. */
const FIXED = 0;

export class LookupCache {
  /** Usernames by key hash. */
  readonly #owners: VersionedCache<string>;
  /** By key hash. */
  readonly #callers: VersionedCache<OwnedCaller>;
  /** By username. */
  readonly #people: VersionedCache<LookupSubject>;
  /** By username: names that cannot be found, apart, so that made-up ones evict no people. */
  readonly #absent: VersionedCache<LookupSubject>;
  /** The last known number of each version slot. */
  readonly #slots = new Map<number, number>();
  #everybody = 0;

  constructor(makeCache: ReputationOptions["makeCache"]) {
    this.#owners = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#callers = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#people = makeCache(MAX_REMEMBERED_LOOKUPS);
    this.#absent = makeCache(MAX_REMEMBERED_ABSENT_NAMES);
  }

  /** A key's caller; null unless it is known at the version that its account had last. */
  caller(keyHash: string): Versioned<OwnedCaller> | null {
    const username = this.#owners.get(keyHash, FIXED);
    const version = username === null ? null : this.#lastVersionOf(username);
    if (version === null) return null;
    const value = this.#callers.get(keyHash, version);
    return value === null ? null : { value, version };
  }

  /** A person, found or not; null unless that is known at the version that the name had last. */
  person(username: string): Versioned<LookupSubject> | null {
    const version = this.#lastVersionOf(username);
    if (version === null) return null;
    const value = this.#people.get(username, version) ?? this.#absent.get(username, version);
    return value === null ? null : { value, version };
  }

  /** Keeps the versions of names that a transaction has read. */
  noteVersions(versions: PersonVersions, names: Iterable<string>): void {
    this.#everybody = versions.everybody;
    for (const name of names) this.#slots.set(versionSlotOf(name), versions.ofSlot(name));
  }

  keepCaller(keyHash: string, { value, version }: Versioned<OwnedCaller>): void {
    this.#owners.set(keyHash, FIXED, value.username);
    this.#callers.set(keyHash, version, value);
  }

  keepPerson(username: string, { value, version }: Versioned<LookupSubject>): void {
    if (value.profile !== null) this.#people.set(username, version, value);
    else if (username.length <= MAX_REMEMBERED_ABSENT_NAME_CHARS) {
      this.#absent.set(username, version, value);
    }
  }

  #lastVersionOf(name: string): number | null {
    const slot = this.#slots.get(versionSlotOf(name));
    return slot === undefined ? null : slot + this.#everybody;
  }
}

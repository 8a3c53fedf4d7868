import type { LookupSubject } from "../../../domain/reputation/lookups/lookup.ts";
import { isPublicProfile } from "../../../domain/reputation/score/profile.ts";
import {
  MAX_REMEMBERED_ABSENT_NAME_CHARS,
  MAX_REMEMBERED_ABSENT_NAMES,
  MAX_REMEMBERED_LOOKUPS,
} from "../../../domain/shared/limits.ts";
import type { VersionedCache } from "../../../ports/lookups/versioned-cache.ts";
import type { ReputationOptions } from "../../../ports/reputation-stores.ts";
import { readOpenConsents } from "../accounts/consent-store.ts";
import type { PersonRows } from "../accounts/person-rows.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { readVersions, type SlotVersions, slotOf } from "../driver/person-versions.ts";

interface PersonReaderDeps extends Pick<ReputationOptions, "makeCache"> {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly subjects: Subjects;
}

export interface PeopleOfBatch {
  readonly versions: SlotVersions;
  /** Those that were not in the caches, by username. */
  readonly read: Map<string, LookupSubject>;
}

/** Reads looked-up people within the transaction of a batch, from the caches where their versions are current. */
export class PersonReader {
  readonly #database: SqliteDatabase;
  readonly #deps: PersonReaderDeps;
  readonly #people: VersionedCache<LookupSubject>;
  /** Names that cannot be found: apart, so that made-up ones evict no people. */
  readonly #absent: VersionedCache<LookupSubject>;

  constructor(database: SqliteDatabase, deps: PersonReaderDeps) {
    this.#database = database;
    this.#deps = deps;
    this.#people = deps.makeCache<LookupSubject>(MAX_REMEMBERED_LOOKUPS);
    this.#absent = deps.makeCache<LookupSubject>(MAX_REMEMBERED_ABSENT_NAMES);
  }

  /** Reads the versions of the people of a batch. */
  begin(usernames: readonly string[]): PeopleOfBatch {
    const slots = new Set(usernames.map(slotOf));
    return { versions: readVersions(this.#database, slots), read: new Map() };
  }

  /** One person of a batch, within the transaction that it began in. */
  read({ versions, read }: PeopleOfBatch, username: string, nowMs: number): LookupSubject {
    const seen = read.get(username);
    if (seen !== undefined) return seen;
    const version = versionOf(versions, username);
    const known = this.#people.get(username, version) ?? this.#absent.get(username, version);
    if (known !== null) return known;
    const subject = this.#readPerson(username, nowMs);
    read.set(username, subject);
    return subject;
  }

  /** Caches what a batch read. Only after its commit: what a failed transaction read may never have been committed. */
  remember({ versions, read }: PeopleOfBatch): void {
    for (const [username, subject] of read) {
      const version = versionOf(versions, username);
      if (subject.profile !== null) this.#people.set(username, version, subject);
      else if (username.length <= MAX_REMEMBERED_ABSENT_NAME_CHARS) {
        this.#absent.set(username, version, subject);
      }
    }
  }

  /** True if no version in the batch changed since `begin`; call in a later read. */
  isCurrent({ versions }: PeopleOfBatch): boolean {
    const now = readVersions(this.#database, versions.keys());
    return [...versions].every(([slot, version]) => now.get(slot) === version);
  }

  forgetAll(): void {
    this.#people.clear();
    this.#absent.clear();
  }

  /** A hidden person is read and named as an absent one: no lookup writes anything for either. D-8.5. */
  #readPerson(username: string, nowMs: number): LookupSubject {
    const { profiles, platformAccounts, subjects } = this.#deps;
    const [profile = null] = profiles.read(username);
    if (profile === null || !isPublicProfile(profile)) {
      const subjectHmac = subjects.hmacOfAbsent(username);
      return { profile: null, accounts: [], consents: [], subjectHmac };
    }
    return {
      profile,
      accounts: platformAccounts.read(username),
      consents: readOpenConsents(this.#database, username, nowMs),
      subjectHmac: subjects.makeHmac(username),
    };
  }
}

/** NaN, which no cached value has, where another tool has removed the slot. */
function versionOf(versions: SlotVersions, username: string): number {
  return versions.get(slotOf(username)) ?? Number.NaN;
}

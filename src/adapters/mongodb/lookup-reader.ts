// Reads what a batch of lookups is decided by: in three messages, whatever its size, all of one moment.
import { Buffer } from "node:buffer";
import type { ClientSession, Document } from "mongodb";
import type { JsonObject } from "../../domain/json.ts";
import type { LookupSubject } from "../../domain/reputation/lookup.ts";
import { effectiveLimits } from "../../domain/reputation/plan.ts";
import type { LookupCall } from "../../ports/lookup-ledger.ts";
import type { VersionedCache } from "../../ports/versioned-cache.ts";
import { ACCOUNTS, type AccountDocument } from "./account-store.ts";
import { API_KEYS, type ApiKeyDocument, storedKeyOf } from "./api-key-store.ts";
import { USAGE, type UsageDocument, usageOf } from "./call-counter.ts";
import { CONSENTS, type ConsentDocument, consentOf } from "./consent-store.ts";
import type { LookupCaller, LookupFacts } from "./lookup-batch.ts";
import type { PersonRows, RowBytes } from "./person-rows.ts";
import type { StoreParts } from "./store-calls.ts";
import { readTimed } from "./store-time.ts";
import { SUBJECTS, type SubjectDocument, type Subjects } from "./subjects.ts";

/** A subject, and the text of everything it was made from. */
export interface MadeSubject {
  readonly source: string;
  readonly subject: LookupSubject;
}

/** What a reader works with. */
export interface LookupReaderParts extends StoreParts {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly subjects: Subjects;
  /** Only saves work: the store is asked for everything every time. */
  readonly cache: VersionedCache<MadeSubject>;
}

/** What was read, and the ids and keys that had to be made, to be kept in the same commit. */
export interface ReadFacts extends LookupFacts {
  readonly newSubjects: () => readonly SubjectDocument[];
}

type CallerDocument = ApiKeyDocument & {
  readonly account: readonly AccountDocument[];
  readonly subject: readonly SubjectDocument[];
  readonly usage: readonly UsageDocument[];
};

interface Joined {
  readonly callers: readonly CallerDocument[];
  readonly consents: readonly ConsentDocument[];
  readonly subjects: readonly SubjectDocument[];
}

/** A person's rows in one table, and their bytes as text. */
interface FoundRows {
  readonly rows: JsonObject[];
  source: string;
}

const NO_ROWS: FoundRows = { rows: [], source: "" };

/** Reads for lookups. */
export class LookupReader {
  readonly #parts: LookupReaderParts;

  constructor(parts: LookupReaderParts) {
    this.#parts = parts;
  }

  /** Reads what the calls need, within a transaction. */
  async read(calls: readonly LookupCall[], session: ClientSession): Promise<ReadFacts> {
    const usernames = [...new Set(calls.map(({ username }) => username))];
    const hashes = [...new Set(calls.map(({ keyHash }) => keyHash))];
    const stages = joins(hashes, usernames);
    const joined = await readTimed<Joined>(this.#parts, stages, { session });
    const { nowMs } = joined;
    const known = new Map(joined.subjects.map((subject) => [subject._id, subject]));
    const made = new Map<string, SubjectDocument>();
    const subjectOf = (username: string): SubjectDocument => {
      const subject = known.get(username) ?? made.get(username);
      if (subject !== undefined) return subject;
      const fresh = this.#parts.subjects.make(username);
      made.set(username, fresh);
      return fresh;
    };
    const callers = new Map<string, LookupCaller>();
    for (const document of joined.callers) {
      const [account] = document.account;
      if (account === undefined) continue;
      for (const subject of document.subject) known.set(subject._id, subject);
      callers.set(document.hash, {
        key: storedKeyOf(keyPart(document)),
        accountId: subjectOf(document.username).id,
        limits: effectiveLimits(account),
        usage: usageOf(document.usage[0], nowMs),
      });
    }
    // Who has no key learns nothing of anybody.
    const people = callers.size === 0 ? [] : usernames;
    const { profiles, platformAccounts } = this.#parts;
    const found = {
      profiles: groupRows(profiles, await profiles.find(people, { session })),
      accounts: groupRows(platformAccounts, await platformAccounts.find(people, { session })),
      consents: Map.groupBy(joined.consents, ({ username }) => username),
    };
    const subjects = new Map<string, LookupSubject>();
    return {
      nowMs,
      callers,
      subjectOf: (username) => {
        const subject = subjects.get(username) ?? this.#subject(username, { ...found, subjectOf });
        subjects.set(username, subject);
        return subject;
      },
      newSubjects: () => [...made.values()],
    };
  }

  /** The same object as before for a person about whom nothing has changed. */
  #subject(
    username: string,
    found: {
      readonly profiles: ReadonlyMap<string, FoundRows>;
      readonly accounts: ReadonlyMap<string, FoundRows>;
      readonly consents: ReadonlyMap<string, readonly ConsentDocument[]>;
      readonly subjectOf: (username: string) => SubjectDocument;
    },
  ): LookupSubject {
    const { subjects, cache } = this.#parts;
    const profile = found.profiles.get(username);
    if (profile === undefined) {
      const subjectHmac = subjects.hmacOfNobody(username);
      return { profile: null, accounts: [], consents: [], subjectHmac };
    }
    const named = found.subjectOf(username);
    const accounts = found.accounts.get(username) ?? NO_ROWS;
    const consents = (found.consents.get(username) ?? []).map(consentOf);
    const source = [named.key, JSON.stringify(consents), profile.source, accounts.source].join();
    const known = cache.get(username, source.length);
    if (known?.source === source) return known.subject;
    const subject = {
      profile: profile.rows[0] ?? null,
      accounts: accounts.rows,
      consents,
      subjectHmac: subjects.hmacOf(named),
    };
    cache.set(username, source.length, { source, subject });
    return subject;
  }
}

function joins(hashes: readonly string[], usernames: readonly string[]): Document[] {
  const ofKey = (from: string, localField: string, as: string) => ({
    $lookup: { from, localField, foreignField: "_id", as },
  });
  const callers = [
    { $match: { hash: { $in: hashes } } },
    ofKey(ACCOUNTS.name, "username", "account"),
    ofKey(SUBJECTS.name, "username", "subject"),
    ofKey(USAGE.name, "subject.id", "usage"),
  ];
  const consents = [{ $match: { username: { $in: usernames }, ended: null } }];
  const subjects = [{ $match: { _id: { $in: usernames } } }];
  return [
    { $lookup: { from: API_KEYS.name, pipeline: callers, as: "callers" } },
    { $lookup: { from: CONSENTS.name, pipeline: consents, as: "consents" } },
    { $lookup: { from: SUBJECTS.name, pipeline: subjects, as: "subjects" } },
  ];
}

function keyPart(document: CallerDocument): ApiKeyDocument {
  const { account: _account, subject: _subject, usage: _usage, ...key } = document;
  return key;
}

function groupRows(table: PersonRows, found: readonly RowBytes[]): ReadonlyMap<string, FoundRows> {
  const people = new Map<string, FoundRows>();
  for (const bytes of found) {
    const row = table.decode(bytes);
    const username = String(row["username"]);
    const person = people.get(username) ?? { rows: [], source: "" };
    person.rows.push(row);
    person.source += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
    people.set(username, person);
  }
  return people;
}

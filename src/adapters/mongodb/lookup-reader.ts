// Reads what a batch of lookups is decided by, whatever its size in a few messages, all of one moment. Callers are read
// anew each time, and people of whom nothing is remembered in the state that the same read finds the store in.
import type { ClientSession, Document } from "mongodb";
import type { JsonObject } from "../../domain/json.ts";
import type { LookupSubject } from "../../domain/reputation/lookup.ts";
import type {
  BatchFacts,
  CallerFacts,
  LookupCall,
  LookupCaller,
} from "../../domain/reputation/lookup-batch.ts";
import { type EffectiveLimits, effectiveLimits } from "../../domain/reputation/plan.ts";
import type { VersionedCache } from "../../ports/versioned-cache.ts";
import { ACCOUNTS, type AccountDocument } from "./account-store.ts";
import { type CallUsage, USAGE, type UsageDocument, usageOf } from "./account-usage.ts";
import { API_KEYS, type ApiKeyDocument, storedKeyOf } from "./api-key-store.ts";
import { CONSENTS, type ConsentDocument, consentOf } from "./consent-store.ts";
import { LookupMemory } from "./lookup-memory.ts";
import type { PersonRows } from "./person-rows.ts";
import type { StoreParts } from "./store-calls.ts";
import { readTimed } from "./store-time.ts";
import { SUBJECTS, type SubjectDocument, type Subjects } from "./subjects.ts";
import { readActivity } from "./table-activity.ts";
import { TableVersions } from "./table-versions.ts";

/** What a reader works with. */
export interface LookupReaderParts extends StoreParts {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly subjects: Subjects;
  readonly cache: VersionedCache<LookupSubject>;
}

/** Who a key belongs to, and what the account has used. */
export interface CountedCaller extends LookupCaller {
  readonly limits: EffectiveLimits;
  readonly usage: CallUsage;
}

/** What was read, all of one moment, and what is to be done about it. */
export interface ReadFacts extends CallerFacts<CountedCaller>, Pick<BatchFacts, "subjectOf"> {
  /** The ids and keys that had to be made, to be kept in the same commit. */
  readonly newSubjects: () => readonly SubjectDocument[];
  /** Remembers the people, once the transaction is committed. */
  readonly remember: () => void;
}

type CallerDocument = ApiKeyDocument & {
  readonly account: readonly AccountDocument[];
  readonly subject: readonly SubjectDocument[];
  readonly usage: readonly UsageDocument[];
};

/** What repsync's own collections hold of people. */
interface JoinedPeople {
  readonly consents: readonly ConsentDocument[];
  readonly subjects: readonly SubjectDocument[];
}

interface Joined extends JoinedPeople {
  readonly callers: readonly CallerDocument[];
  readonly version: readonly { readonly sum: string }[];
}

/** Gives people their ids and keys: those they have, or new ones. */
class SubjectKeys {
  readonly #subjects: Subjects;
  readonly #known = new Map<string, SubjectDocument>();
  readonly #made = new Map<string, SubjectDocument>();

  constructor(subjects: Subjects) {
    this.#subjects = subjects;
  }

  add(documents: readonly SubjectDocument[]): void {
    for (const document of documents) this.#known.set(document._id, document);
  }

  of(username: string): SubjectDocument {
    const subject = this.#known.get(username) ?? this.#made.get(username);
    if (subject !== undefined) return subject;
    const fresh = this.#subjects.make(username);
    this.#made.set(username, fresh);
    return fresh;
  }

  get made(): readonly SubjectDocument[] {
    return [...this.#made.values()];
  }
}

/** Reads for lookups. */
export class LookupReader {
  readonly #parts: LookupReaderParts;
  readonly #memory: LookupMemory<LookupSubject>;
  /** Collections whose writes are counted: what other programs may change. */
  readonly #watched: readonly string[];
  readonly #version: Document;

  constructor(parts: LookupReaderParts) {
    this.#parts = parts;
    this.#memory = new LookupMemory(parts.cache, parts.clock);
    const tables = [parts.profiles.tableName, parts.platformAccounts.tableName];
    this.#watched = [...tables, CONSENTS.name];
    this.#version = TableVersions.joinPeople(tables);
  }

  /** Reads what the calls need, within a transaction. */
  async read(calls: readonly LookupCall[], session: ClientSession): Promise<ReadFacts> {
    const usernames = [...new Set(calls.map(({ username }) => username))];
    const hashes = [...new Set(calls.map(({ keyHash }) => keyHash))];
    const recalled = this.#memory.recall(usernames);
    const missing = usernames.filter((username) => !recalled.has(username));
    const activity = this.#activity();
    const stages = [joinCallers(hashes), this.#version, ...joinPeople(missing)];
    const joined = await readTimed<Joined>(this.#parts, stages, { session });
    const counted = await activity;
    const state = counted === null ? null : `${joined.version[0]?.sum ?? 0} ${counted}`;
    const remembered = this.#memory.isIn(state) ? recalled : new Map<string, LookupSubject>();
    const keys = new SubjectKeys(this.#parts.subjects);
    const callers = readCallers(joined, keys);
    const { nowMs } = joined;
    // Who has no key learns nothing of anybody.
    const wanted = callers.size === 0 ? [] : usernames.filter((name) => !remembered.has(name));
    const isJoined = wanted.length <= missing.length;
    const people = isJoined
      ? joined
      : await readTimed<JoinedPeople>(this.#parts, joinPeople(wanted), { session });
    keys.add(people.subjects);
    const made = await this.#maker({ wanted, keys, consents: people.consents, session });
    const found = new Map<string, LookupSubject>();
    const subjectOf = (username: string): LookupSubject => {
      const subject = remembered.get(username) ?? found.get(username) ?? made(username);
      if (!remembered.has(username)) found.set(username, subject);
      return subject;
    };
    const remember = () => {
      // Names of nobody would take the room of people.
      const known = [...found].filter(([, { profile }]) => profile !== null);
      this.#memory.remember(state, new Map(known));
    };
    const callerOf = (keyHash: string) => callers.get(keyHash) ?? null;
    return { nowMs, callerOf, subjectOf, newSubjects: () => keys.made, remember };
  }

  /** Null when it is not to be had, as on a sharded cluster, which does not show its primaries. */
  async #activity(): Promise<string | null> {
    try {
      const primary = await this.#parts.primaryWatch.confirm();
      if (primary === null) return null;
      return `${primary} ${await readActivity(this.#parts.db, this.#watched)}`;
    } catch {
      // It only saves work. What is wrong with the server shows in the transaction.
      return null;
    }
  }

  /** Reads the rows of people; gives what makes a subject of them. */
  async #maker(of: {
    readonly wanted: readonly string[];
    readonly keys: SubjectKeys;
    readonly consents: readonly ConsentDocument[];
    readonly session: ClientSession;
  }): Promise<(username: string) => LookupSubject> {
    const { wanted, keys, session } = of;
    const { subjects } = this.#parts;
    const profiles = await rowsOf(this.#parts.profiles, wanted, session);
    const accounts = await rowsOf(this.#parts.platformAccounts, wanted, session);
    const consents = Map.groupBy(of.consents, ({ username }) => username);
    return (username) => {
      const [profile] = profiles.get(username) ?? [];
      if (profile === undefined) {
        const subjectHmac = subjects.hmacOfNobody(username);
        return { profile: null, accounts: [], consents: [], subjectHmac };
      }
      return {
        profile,
        accounts: accounts.get(username) ?? [],
        consents: (consents.get(username) ?? []).map(consentOf),
        subjectHmac: subjects.hmacOf(keys.of(username)),
      };
    };
  }
}

function joinCallers(hashes: readonly string[]): Document {
  const ofKey = (from: string, localField: string, as: string) => ({
    $lookup: { from, localField, foreignField: "_id", as },
  });
  const pipeline = [
    { $match: { hash: { $in: hashes } } },
    ofKey(ACCOUNTS.name, "username", "account"),
    ofKey(SUBJECTS.name, "username", "subject"),
    ofKey(USAGE.name, "subject.id", "usage"),
  ];
  return { $lookup: { from: API_KEYS.name, pipeline, as: "callers" } };
}

function joinPeople(usernames: readonly string[]): Document[] {
  if (usernames.length === 0) return [{ $set: { consents: [], subjects: [] } }];
  const consents = [{ $match: { username: { $in: usernames }, ended: null } }];
  const subjects = [{ $match: { _id: { $in: usernames } } }];
  return [
    { $lookup: { from: CONSENTS.name, pipeline: consents, as: "consents" } },
    { $lookup: { from: SUBJECTS.name, pipeline: subjects, as: "subjects" } },
  ];
}

function readCallers(
  { callers, nowMs }: Joined & { readonly nowMs: number },
  keys: SubjectKeys,
): ReadonlyMap<string, CountedCaller> {
  const read = new Map<string, CountedCaller>();
  for (const document of callers) {
    const [account] = document.account;
    if (account === undefined) continue;
    keys.add(document.subject);
    read.set(document.hash, {
      key: storedKeyOf(keyPart(document)),
      accountId: keys.of(document.username).id,
      limits: effectiveLimits(account),
      usage: usageOf(document.usage[0], nowMs),
    });
  }
  return read;
}

function keyPart(document: CallerDocument): ApiKeyDocument {
  const { account: _account, subject: _subject, usage: _usage, ...key } = document;
  return key;
}

async function rowsOf(
  table: PersonRows,
  usernames: readonly string[],
  session: ClientSession,
): Promise<ReadonlyMap<string, JsonObject[]>> {
  const found = await table.find(usernames, { session });
  const rows = found.map((bytes) => table.decode(bytes));
  return Map.groupBy(rows, (row) => String(row["username"]));
}

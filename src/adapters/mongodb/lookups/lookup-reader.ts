// Reads what batches of lookups are decided by: before a transaction what the caches lack, in it what proves that nothing
// has changed since, and the counts, which are never cached.
import type { AggregateOptions, ClientSession, Document } from "mongodb";
import { effectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import type { LookupSubject } from "../../../domain/reputation/lookups/lookup.ts";
import { isPublicProfile } from "../../../domain/reputation/score/profile.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { type UsageDocument, usageId } from "../accounts/account-usage.ts";
import { API_KEYS, type ApiKeyDocument } from "../accounts/api-key-store.ts";
import {
  CONSENTS,
  type ConsentDocument,
  consentOf,
  openConsentsOf,
} from "../accounts/consent-store.ts";
import type { PersonRows } from "../accounts/person-rows.ts";
import { SUBJECTS, type SubjectDocument, type Subjects } from "../accounts/subjects.ts";
import type { Deadline } from "../driver/deadline.ts";
import { HEADS, LOOKUP_LOG, logId, nameInLog } from "../driver/lookup-log.ts";
import {
  readSnapshot,
  SNAPSHOT,
  type StoreDeps,
  settleAll,
  type TxOptions,
} from "../driver/operations.ts";
import {
  type JoinedVersions,
  joinPersonVersions,
  PersonVersions,
} from "../driver/person-versions.ts";
import { nowExpression, readTimed } from "../driver/server-clock.ts";
import { ACCOUNTS, type AccountDocument } from "../people/name-facts.ts";
import type { BatchFacts } from "./batch-facts.ts";
import type { LookupCache } from "./lookup-cache.ts";
import type { StoredHead } from "./own-chain.ts";

interface LookupReaderDeps extends StoreDeps {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly subjects: Subjects;
  readonly cache: LookupCache;
}

interface WantedLog {
  readonly accountIds: Iterable<string>;
  readonly chainIds: readonly string[];
}

/** Read by one transaction, all of one moment. */
export interface BatchReading {
  readonly nowMs: number;
  readonly versions: PersonVersions;
  /** By `usageId`. */
  readonly usages: ReadonlyMap<string, UsageDocument>;
  /** By chain id. */
  readonly heads: ReadonlyMap<string, StoredHead>;
}

/** A key with its account and subject, one of each or none. */
interface CallerDocument
  extends Pick<
    ApiKeyDocument,
    "_id" | "hash" | "username" | "expiresAt" | "revokedAt" | "isRevoked"
  > {
  readonly account: readonly AccountDocument[];
  readonly subject: readonly SubjectDocument[];
}

type LogDocument = UsageDocument | (StoredHead & { readonly _id: string });
type ReadOptions = AggregateOptions & TxOptions;

export class LookupReader {
  readonly #deps: LookupReaderDeps;

  constructor(deps: LookupReaderDeps) {
    this.#deps = deps;
  }

  /** Gives a batch what it does not hold yet, from the caches or from snapshots. Throws `AppError`. */
  async fill(facts: BatchFacts, deadline: Deadline): Promise<void> {
    const { cache } = this.#deps;
    const newHashes = keepFound(facts.keyHashes, facts.callers, (hash) => cache.caller(hash));
    if (newHashes.length > 0) {
      await this.#readSnapshot((options) => this.#readCallers(facts, newHashes, options), deadline);
    }
    // Without a valid key no person is read.
    if (!facts.hasCallers) return;
    const newNames = keepFound(facts.usernames, facts.people, (name) => cache.person(name));
    if (newNames.length > 0) {
      await this.#readSnapshot((options) => this.#readPeople(facts, newNames, options), deadline);
    }
  }

  /** Begins a transaction with all that it reads, in one message. */
  async readBatch(facts: BatchFacts, log: WantedLog, tx: ClientSession): Promise<BatchReading> {
    const usageIds = Array.from(log.accountIds, usageId);
    const headIds = log.chainIds.map((chainId) => logId(HEADS, chainId));
    const isWanted = [{ $match: { _id: { $in: [...usageIds, ...headIds] } } }];
    const stages = [
      ...joinPersonVersions(facts.versionedNames),
      { $lookup: { from: LOOKUP_LOG.name, pipeline: isWanted, as: "log" } },
    ];
    type Joined = JoinedVersions & { readonly log: readonly LogDocument[] };
    const joined = await readTimed<Joined>(this.#deps, stages, { session: tx });
    const usages = new Map<string, UsageDocument>();
    const heads = new Map<string, StoredHead>();
    for (const document of joined.log) {
      if ("packed" in document) usages.set(document._id, document);
      else heads.set(nameInLog(HEADS, document._id), document);
    }
    return { nowMs: joined.nowMs, versions: new PersonVersions(joined), usages, heads };
  }

  async #readSnapshot(
    read: (options: ReadOptions) => Promise<void>,
    deadline: Deadline,
  ): Promise<void> {
    await readSnapshot(this.#deps, (tx) => read({ ...SNAPSHOT, session: tx }), deadline);
  }

  async #readCallers(
    facts: BatchFacts,
    hashes: readonly string[],
    options: ReadOptions,
  ): Promise<void> {
    const found = await this.#deps.db
      .collection(API_KEYS.name)
      .aggregate<CallerDocument>(callersOf(hashes), options)
      .toArray();
    const owners = found.map(({ username }) => username);
    const versions = await this.#readVersions([...hashes, ...owners], options);
    const byHash = new Map(found.map((document) => [document.hash, document]));
    for (const hash of hashes) {
      const document = byHash.get(hash);
      const [account] = document?.account ?? [];
      if (document === undefined || account === undefined) {
        facts.callers.set(hash, { value: null, version: versions.of(hash) });
        continue;
      }
      const { _id: id, username, expiresAt, revokedAt, isRevoked, subject } = document;
      const value = {
        username,
        key: { id, expiresAt, revokedAt, isRevoked },
        accountId: this.#subjectOf(facts, username, subject[0]).id,
        isSuspended: (account.suspendedAtMs ?? null) !== null,
        limits: effectiveLimits(account),
      };
      facts.callers.set(hash, { value, version: versions.of(username) });
    }
  }

  /** A hidden person is read and named as an absent one. D-8.5. */
  async #readPeople(
    facts: BatchFacts,
    usernames: readonly string[],
    options: ReadOptions,
  ): Promise<void> {
    const { db, profiles, platformAccounts, subjects, storeClock } = this.#deps;
    const versions = await this.#readVersions(usernames, options);
    const profileOf = firstOf(await rowsOf(profiles, usernames, options));
    const found = usernames.filter((username) => {
      const profile = profileOf(username);
      return profile !== undefined && isPublicProfile(profile);
    });
    const keep = (username: string, value: LookupSubject) =>
      facts.people.set(username, { value, version: versions.of(username) });
    const isFound = new Set(found);
    for (const username of usernames) {
      if (isFound.has(username)) continue;
      const subjectHmac = subjects.hmacOfAbsent(username);
      keep(username, { profile: null, accounts: [], consents: [], subjectHmac });
    }
    if (found.length === 0) return;
    const open = openConsentsOf(found, nowExpression(storeClock));
    const [accounts, consents, keys] = await settleAll([
      rowsOf(platformAccounts, found, options),
      db.collection<ConsentDocument>(CONSENTS.name).find(open, options).toArray(),
      subjects.findAll(found, options),
    ]);
    const consentsBy = Map.groupBy(consents, ({ username }) => username);
    for (const username of found) {
      keep(username, {
        profile: profileOf(username) ?? null,
        accounts: accounts.get(username) ?? [],
        consents: (consentsBy.get(username) ?? []).map(consentOf),
        subjectHmac: subjects.hmacOf(this.#subjectOf(facts, username, keys.get(username))),
      });
    }
  }

  /** A person's id and key: those that are stored, or new ones for the batch to keep. */
  #subjectOf(
    facts: BatchFacts,
    username: string,
    stored: SubjectDocument | undefined,
  ): SubjectDocument {
    const known = stored ?? facts.newSubjects.get(username);
    if (known !== undefined) return known;
    const made = this.#deps.subjects.make(username);
    facts.newSubjects.set(username, made);
    return made;
  }

  async #readVersions(names: readonly string[], options: ReadOptions): Promise<PersonVersions> {
    const stages = joinPersonVersions(names);
    return new PersonVersions(await readTimed<JoinedVersions>(this.#deps, stages, options));
  }
}

/** Moves what `find` knows into `held`; returns the names of which nothing is known. */
function keepFound<Value>(
  names: readonly string[],
  held: Map<string, Value>,
  find: (name: string) => Value | null,
): readonly string[] {
  return names.filter((name) => {
    const found = held.get(name) ?? find(name);
    if (found !== null) held.set(name, found);
    return found === null;
  });
}

function callersOf(hashes: readonly string[]): Document[] {
  const ofKey = (from: string, as: string) => ({
    $lookup: { from, localField: "username", foreignField: "_id", as },
  });
  const fields = ["hash", "username", "expiresAt", "revokedAt", "isRevoked", "account", "subject"];
  return [
    { $match: { hash: { $in: hashes } } },
    ofKey(ACCOUNTS.name, "account"),
    ofKey(SUBJECTS.name, "subject"),
    { $project: Object.fromEntries(fields.map((name) => [name, 1])) },
  ];
}

async function rowsOf(
  table: PersonRows,
  usernames: readonly string[],
  options: ReadOptions,
): Promise<ReadonlyMap<string, readonly JsonObject[]>> {
  const found = await table.find(usernames, options);
  const rows = found.map((bytes) => table.decode(bytes));
  return Map.groupBy(rows, (row) => String(row["username"]));
}

function firstOf(rows: ReadonlyMap<string, readonly JsonObject[]>) {
  return (username: string): JsonObject | undefined => rows.get(username)?.[0];
}

// Reads what batches of lookups need and the caches lack, each value at the moment of its version.
import { effectiveLimits } from "../../domain/reputation/accounts/plan.ts";
import type { LookupSubject } from "../../domain/reputation/lookups/lookup-batch.ts";
import { isPublicProfile } from "../../domain/reputation/score/profile.ts";
import { isKey, type Key } from "../../domain/shared/document-key.ts";
import type { Row, Table } from "../../domain/sync/table/table.ts";
import type { Reader } from "../../ports/documents.ts";
import {
  ACCOUNTS,
  CONSENTS,
  KEYS,
  SUBJECTS,
  type SubjectDocument,
} from "../account-collections.ts";
import type { BatchFacts, LookupCache } from "./batch-facts.ts";
import type { Subjects } from "./subjects.ts";

/** The tables that lookups read. */
export interface PeopleTables {
  readonly profiles: Table;
  readonly platformAccounts: Table;
}

interface LookupReaderDeps {
  readonly people: PeopleTables;
  readonly subjects: Subjects;
  readonly cache: LookupCache;
}

export class LookupReader {
  readonly #deps: LookupReaderDeps;

  constructor(deps: LookupReaderDeps) {
    this.#deps = deps;
  }

  /** Gives a batch what it lacks, from the caches or the moment of a body. Throws `store_unavailable`. */
  async fill(facts: BatchFacts, at: Reader): Promise<void> {
    const { cache } = this.#deps;
    const hashes = cache.findCallers(facts);
    if (hashes.length > 0) await this.#readCallers(at, facts, hashes);
    // Without a valid key no person is read.
    const names = facts.hasCallers ? cache.findPeople(facts) : [];
    if (names.length > 0) await this.#readPeople(at, facts, names);
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
    const { people, subjects } = this.#deps;
    const { profiles, platformAccounts } = people;
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
    const made = this.#deps.subjects.make(username);
    facts.newSubjects.set(username, made);
    return made;
  }
}

function byName(names: readonly string[], versions: readonly number[]): (name: string) => number {
  const known = new Map(names.map((name, i) => [name, versions[i] ?? Number.NaN]));
  return (name) => known.get(name) ?? Number.NaN;
}

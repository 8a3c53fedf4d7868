// Reads what a batch of lookups is decided by, whatever its size in a few messages, all of one moment: of callers and
// people those of whom nothing is remembered in the state that the same read finds the store in.
import type { AggregateOptions, ClientSession, Document } from "mongodb";
import type { LookupSubject } from "../../../domain/reputation/lookups/lookup.ts";
import type {
  BatchFacts,
  CallerFacts,
  LimitedCaller,
  LookupCall,
} from "../../../domain/reputation/lookups/lookup-batch.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { type CallUsage, type UsageDocument, usageId, usageOf } from "../accounts/account-usage.ts";
import {
  CONSENTS,
  type ConsentDocument,
  consentOf,
  openConsentsOf,
} from "../accounts/consent-store.ts";
import type { PersonRows } from "../accounts/person-rows.ts";
import { SUBJECTS, type SubjectDocument, type Subjects } from "../accounts/subjects.ts";
import { allEnded } from "../driver/all-ended.ts";
import { readSnapshot, SNAPSHOT, type StoreParts } from "../driver/operations.ts";
import { nowExpression, readTimed } from "../driver/server-clock.ts";
import type { CallCounter } from "./call-counter.ts";
import { type CallerDocument, joinCallers, joinUsages, limitedCaller } from "./lookup-callers.ts";
import {
  type AgedCaches,
  type KnownForLookups,
  LookupMemory,
  type Named,
  NOBODY,
  type Recalled,
} from "./lookup-memory.ts";
import { LookupRenewal } from "./lookup-renewal.ts";
import { type JoinedVersion, LookupState } from "./lookup-state.ts";
import { ServerTime } from "./server-time.ts";

/** What a reader works with. */
export interface LookupReaderParts extends StoreParts, AgedCaches {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly subjects: Subjects;
  readonly counter: Pick<CallCounter, "held">;
}

/** Who a key belongs to, and what the account has used. */
export interface CountedCaller extends LimitedCaller {
  readonly usage: CallUsage;
}

/** What calls are decided by, all of one moment. */
export interface LookupFacts extends CallerFacts<CountedCaller>, Pick<BatchFacts, "subjectOf"> {}

/** What was read, and what is to be done about it. */
export interface ReadFacts extends LookupFacts {
  /** The ids and keys that had to be made, to be kept in the same commit. */
  readonly newSubjects: () => readonly SubjectDocument[];
  /** The state of the store; null when nobody knows it. */
  readonly state: string | null;
  /** What was not remembered before. */
  readonly read: () => KnownForLookups;
}

/** What is remembered of those that calls name, good in the state of the store that it was read in. */
export interface RecalledFacts extends Recalled, Named {}

/** A transaction's session, or a snapshot's with `SNAPSHOT`. */
type ReadOptions = Pick<AggregateOptions, "readConcern"> & { readonly session: ClientSession };

/** What is to be read. */
interface Wanted extends Named {
  /** Of accounts that are not read with a key. */
  readonly accountIds: readonly string[];
}

/** What of it is there; a field is missing when nothing was wanted. */
interface Joined extends JoinedVersion {
  readonly nowMs: number;
  readonly callers?: readonly CallerDocument[];
  readonly usages?: readonly UsageDocument[];
  readonly consents?: readonly ConsentDocument[];
  readonly subjects?: readonly SubjectDocument[];
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
  readonly #memory: LookupMemory;
  readonly #state: LookupState;
  readonly #renewal: LookupRenewal;
  readonly #time: ServerTime;

  constructor(parts: LookupReaderParts) {
    this.#parts = parts;
    this.#memory = new LookupMemory(parts, parts.clock);
    this.#renewal = new LookupRenewal(parts.clock, (named) => this.#readAgain(named));
    this.#time = new ServerTime(parts);
    const tables = [parts.profiles.tableName, parts.platformAccounts.tableName];
    this.#state = new LookupState(parts, tables);
  }

  /** What is remembered of those that the calls name. */
  recall(calls: readonly LookupCall[]): RecalledFacts {
    const usernames = [...new Set(calls.map(({ username }) => username))];
    const hashes = [...new Set(calls.map(({ keyHash }) => keyHash))];
    const recalled = this.#memory.recall({ hashes, usernames });
    this.#renewal.keepUpWith({ hashes, usernames: recalled.dueUsernames });
    return { usernames, hashes, ...recalled };
  }

  /**
   * Everything that the calls need, when all of it is remembered, at the time that it most likely is; else null. It is good
   * if `confirm`, called after this, says so.
   */
  remembered({ usernames, hashes, callers, people }: RecalledFacts): LookupFacts | null {
    const nowMs = this.#time.nowMs();
    if (nowMs === null) return null;
    if (callers.size < hashes.length || people.size < usernames.length) return null;
    const isCounted = ({ accountId }: LimitedCaller) =>
      this.#parts.counter.held(accountId) !== null;
    if (![...callers.values()].every(isCounted)) return null;
    const counted = this.#counted(callers, { nowMs });
    return {
      nowMs,
      callerOf: (keyHash) => counted.get(keyHash) ?? null,
      subjectOf: (username) => personIn(people, username),
    };
  }

  /**
   * The primary, as `PrimaryWatch` has it, when it says that the store is in the state that is remembered, and the time was
   * foretold right; else null. In one message, outside of any transaction.
   */
  async confirm(): Promise<string | null> {
    const askedAtMs = this.#parts.clock.monotonicMs();
    const found = await this.#state.read();
    if (found === null) return null;
    const isTime = this.#time.learn(found.nowMs, askedAtMs);
    return isTime && this.#memory.isIn(found.state) ? found.primary : null;
  }

  /** Reads what the calls need beside what is remembered, within a transaction or snapshot. */
  async read(recalled: Named & KnownForLookups, options: ReadOptions): Promise<ReadFacts> {
    const { usernames, hashes, callers, people } = recalled;
    const activity = this.#state.activity();
    const accountIds = [...callers.values()].map(({ accountId }) => accountId);
    const wanted: Wanted = {
      usernames: usernames.filter((username) => !people.has(username)),
      hashes: hashes.filter((hash) => !callers.has(hash)),
      accountIds: accountIds.filter((id) => this.#parts.counter.held(id) === null),
    };
    const first = await this.#join(wanted, options);
    const state = this.#state.textOf(first, await activity);
    const isRecalled = callers.size + people.size > 0;
    if (!isRecalled || this.#memory.isIn(state)) {
      return await this.#complete({ ...wanted, callers, people, state, joined: first, options });
    }
    const all = { usernames, hashes, accountIds: [] };
    const joined = { ...(await this.#join(all, options)), nowMs: first.nowMs };
    return await this.#complete({ ...all, ...NOBODY, state, joined, options });
  }

  /** Remembers what was read, once the transaction is committed. */
  remember({ state, read }: ReadFacts, { askedAt }: RecalledFacts): void {
    this.#memory.remember(state, read(), askedAt);
  }

  async #readAgain(named: Named): Promise<void> {
    const askedAt = this.#memory.moment();
    const facts = await readSnapshot(this.#parts, (session) =>
      this.read({ ...named, ...NOBODY }, { session, ...SNAPSHOT }),
    );
    for (const username of named.usernames) facts.subjectOf(username);
    // Whoever has no key any more was erased, which is another state.
    if (facts.newSubjects().length > 0) return;
    this.#memory.renew(facts.state, facts.read(), askedAt);
  }

  async #join({ usernames, hashes, accountIds }: Wanted, options: ReadOptions): Promise<Joined> {
    const stages = [
      this.#state.versionStage,
      ...(hashes.length > 0 ? [joinCallers(hashes)] : []),
      ...(accountIds.length > 0 ? [joinUsages(accountIds)] : []),
      ...(usernames.length > 0 ? joinPeople(usernames, nowExpression(this.#parts.storeClock)) : []),
    ];
    const askedAtMs = this.#parts.clock.monotonicMs();
    const joined = await readTimed<Joined>(this.#parts, stages, options);
    this.#time.learn(joined.nowMs, askedAtMs);
    return joined;
  }

  /** Puts together what is remembered and what was joined, and reads the rows of people that are missing. */
  async #complete(
    of: KnownForLookups & {
      readonly usernames: readonly string[];
      readonly state: string | null;
      readonly joined: Joined;
      readonly options: ReadOptions;
    },
  ): Promise<ReadFacts> {
    const { people, state, joined, options } = of;
    const { nowMs, consents = [], subjects = [] } = joined;
    const keys = new SubjectKeys(this.#parts.subjects);
    keys.add(subjects);
    const read = readCallers(joined, keys);
    const callers = this.#counted(new Map([...of.callers, ...read]), joined);
    // Who has no key learns nothing of anybody.
    const wanted = callers.size === 0 ? [] : of.usernames;
    const made = await this.#maker({ wanted, keys, consents, options });
    const found = new Map<string, LookupSubject>();
    const subjectOf = (username: string): LookupSubject => {
      const subject = people.get(username) ?? found.get(username) ?? made(username);
      if (!people.has(username)) found.set(username, subject);
      return subject;
    };
    const nowKnown = () => {
      // Names of nobody would take the room of people.
      const named = [...found].filter(([, { profile }]) => profile !== null);
      return { callers: read, people: new Map(named) };
    };
    const callerOf = (keyHash: string) => callers.get(keyHash) ?? null;
    return { nowMs, callerOf, subjectOf, newSubjects: () => keys.made, state, read: nowKnown };
  }

  /** Callers with what their accounts have used. */
  #counted(
    callers: ReadonlyMap<string, LimitedCaller>,
    { callers: documents = [], usages = [], nowMs }: Omit<Joined, "version">,
  ): ReadonlyMap<string, CountedCaller> {
    const read = new Map([...documents.flatMap(({ usage }) => usage), ...usages].map(byId));
    const known = new Map<string, CallUsage>();
    const usedBy = (id: string): CallUsage => {
      const document = read.get(usageId(id)) ?? this.#parts.counter.held(id);
      const usage = known.get(id) ?? usageOf(document, nowMs);
      known.set(id, usage);
      return usage;
    };
    const counted = [...callers].map(
      ([hash, caller]) => [hash, { ...caller, usage: usedBy(caller.accountId) }] as const,
    );
    return new Map(counted);
  }

  /** Reads the rows of people; gives what makes a subject of them. */
  async #maker(of: {
    readonly wanted: readonly string[];
    readonly keys: SubjectKeys;
    readonly consents: readonly ConsentDocument[];
    readonly options: ReadOptions;
  }): Promise<(username: string) => LookupSubject> {
    const { wanted, keys, options } = of;
    const { subjects } = this.#parts;
    const [profiles, accounts] = await allEnded([
      rowsOf(this.#parts.profiles, wanted, options),
      rowsOf(this.#parts.platformAccounts, wanted, options),
    ]);
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

function joinPeople(usernames: readonly string[], now: "$$NOW" | Date): Document[] {
  const consents = [{ $match: openConsentsOf(usernames, now) }];
  const subjects = [{ $match: { _id: { $in: usernames } } }];
  return [
    { $lookup: { from: CONSENTS.name, pipeline: consents, as: "consents" } },
    { $lookup: { from: SUBJECTS.name, pipeline: subjects, as: "subjects" } },
  ];
}

function readCallers(
  { callers = [] }: Joined,
  keys: SubjectKeys,
): ReadonlyMap<string, LimitedCaller> {
  const read = new Map<string, LimitedCaller>();
  for (const document of callers) {
    const [account] = document.account;
    if (account === undefined) continue;
    keys.add(document.subject);
    const { id: accountId } = keys.of(document.username);
    read.set(document.hash, limitedCaller(document, { account, accountId }));
  }
  return read;
}

function personIn(people: ReadonlyMap<string, LookupSubject>, username: string): LookupSubject {
  const subject = people.get(username);
  if (subject === undefined) throw new Error("Nobody is remembered by this name");
  return subject;
}

function byId(document: UsageDocument): readonly [string, UsageDocument] {
  return [document._id, document];
}

async function rowsOf(
  table: PersonRows,
  usernames: readonly string[],
  options: ReadOptions,
): Promise<ReadonlyMap<string, JsonObject[]>> {
  const found = await table.find(usernames, options);
  const rows = found.map((bytes) => table.decode(bytes));
  return Map.groupBy(rows, (row) => String(row["username"]));
}

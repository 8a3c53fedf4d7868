import type {
  LookupCall,
  LookupCaller,
  LookupSubject,
} from "../../domain/reputation/lookups/lookup-batch.ts";
import type { SubjectDocument } from "../account-collections.ts";

/** A caller with the username of its account, whose version counts for it. */
export interface OwnedCaller extends LookupCaller {
  readonly username: string;
}

export interface Versioned<Value> {
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

// What lookups remember of callers and people, good in one state of the store: the versions of repsync's own changes, in
// the snapshot of the batch, and the servers' counts of everybody's writes. docs/decisions/0044
import type { LookupSubject } from "../../../domain/reputation/lookups/lookup.ts";
import type { LimitedCaller } from "../../../domain/reputation/lookups/lookup-batch.ts";
import type { VersionedCache } from "../../../ports/lookups/versioned-cache.ts";
import type { Stopwatch } from "../driver/deadline.ts";

/** Whom something is to be known of. */
export interface Named {
  readonly usernames: readonly string[];
  /** Of keys. */
  readonly hashes: readonly string[];
}

/** What is known of some. */
export interface KnownForLookups {
  /** By the hash of their key. */
  readonly callers: ReadonlyMap<string, LimitedCaller>;
  /** By username. */
  readonly people: ReadonlyMap<string, LookupSubject>;
}

/** What is known of nobody. */
export const NOBODY: KnownForLookups = { callers: new Map(), people: new Map() };

/** When something was asked for, and in which state that is. */
export interface Moment {
  readonly atMs: number;
  readonly version: number;
}

/** What is remembered of some. */
export interface Recalled extends KnownForLookups {
  readonly askedAt: Moment;
  /** Those of the people who will be forgotten before long. */
  readonly dueUsernames: readonly string[];
}

/** A value, and when it was asked for: it was read later. */
export interface Aged<Value> {
  readonly value: Value;
  readonly atMs: number;
}

/** What values are remembered in. */
export interface AgedCaches {
  /** By the hash of the key. */
  readonly callerCache: VersionedCache<Aged<LimitedCaller>>;
  /** By username. */
  readonly subjectCache: VersionedCache<Aged<LookupSubject>>;
}

interface State {
  /** Null before any is known. */
  readonly text: string | null;
  /** By which values of this state are remembered. */
  readonly version: number;
}

/**
 * Nothing is remembered for longer: another program's transaction is counted at its statements and seen at its commit, and
 * servers do not count every way of writing, `$merge` and `applyOps` for example.
 */
const MAX_AGE_MS = 100_000;
/** From this age on a value that is asked for should be read anew. */
const DUE_MS = MAX_AGE_MS / 2;

/** Callers and people. */
export class LookupMemory {
  readonly #caches: AgedCaches;
  readonly #clock: Stopwatch;
  #state: State = { text: null, version: 0 };

  constructor(caches: AgedCaches, clock: Stopwatch) {
    this.#caches = caches;
    this.#clock = clock;
  }

  /** The present one. */
  moment(): Moment {
    return { atMs: this.#clock.monotonicMs(), version: this.#state.version };
  }

  /** What is remembered of these, good if `isIn` then says so. */
  recall({ hashes, usernames }: Named): Recalled {
    const askedAt = this.moment();
    const callers = recallFrom(this.#caches.callerCache, hashes, askedAt);
    const people = recallFrom(this.#caches.subjectCache, usernames, askedAt);
    return { askedAt, callers: callers.known, people: people.known, dueUsernames: people.due };
  }

  /** Whether the store is in the state that is remembered; null is a state that nobody knows. */
  isIn(text: string | null): boolean {
    return text !== null && this.#state.text === text;
  }

  /**
   * Remembers what a committed batch read. Of a new state only the state: a write may be counted before a snapshot shows
   * it, but every snapshot taken after the commit of this batch shows what was counted before that.
   */
  remember(text: string | null, known: KnownForLookups, askedAt: Moment): void {
    if (text === null) return;
    if (this.isIn(text)) this.renew(text, known, askedAt);
    else this.#state = { text, version: this.#state.version + 1 };
  }

  /** Remembers what was read in the state that is remembered, if that was so when it was asked for. */
  renew(text: string | null, { callers, people }: KnownForLookups, askedAt: Moment): void {
    const { atMs, version } = askedAt;
    if (!this.isIn(text) || this.#state.version !== version) return;
    const { callerCache, subjectCache } = this.#caches;
    for (const [hash, value] of callers) callerCache.set(hash, version, { value, atMs });
    for (const [username, value] of people) subjectCache.set(username, version, { value, atMs });
  }
}

function recallFrom<Value>(
  cache: VersionedCache<Aged<Value>>,
  names: readonly string[],
  { atMs, version }: Moment,
): { readonly known: ReadonlyMap<string, Value>; readonly due: readonly string[] } {
  const known = new Map<string, Value>();
  const due: string[] = [];
  for (const name of names) {
    const aged = cache.get(name, version);
    if (aged === null || atMs - aged.atMs >= MAX_AGE_MS) continue;
    known.set(name, aged.value);
    if (atMs - aged.atMs >= DUE_MS) due.push(name);
  }
  return { known, due };
}

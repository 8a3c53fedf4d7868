// What lookups remember of callers and people, good in one state of the store: the versions of repsync's own changes, in
// the snapshot of the batch, and the servers' counts of everybody's writes. docs/decisions/0044
import type { LookupSubject } from "../../domain/reputation/lookup.ts";
import type { LimitedCaller } from "../../domain/reputation/lookup-batch.ts";
import type { LookupCaches } from "../../ports/lookup-ledger.ts";
import type { VersionedCache } from "../../ports/versioned-cache.ts";
import type { Stopwatch } from "./deadline.ts";

/** What is known of some. */
export interface KnownForLookups {
  /** By the hash of their key. */
  readonly callers: ReadonlyMap<string, LimitedCaller>;
  /** By username. */
  readonly people: ReadonlyMap<string, LookupSubject>;
}

interface State {
  readonly text: string;
  /** Since when it is known, or was read anew. */
  readonly sinceMs: number;
  /** By which values of this state are remembered. */
  readonly version: number;
}

/**
 * A write is counted at its statement, a transaction may commit it later: MongoDB ends transactions after 60 seconds
 * unless it is set otherwise, and looks for such every 30.
 */
const OPEN_TRANSACTION_MS = 100_000;

/** Callers and people. */
export class LookupMemory {
  readonly #caches: LookupCaches;
  readonly #clock: Stopwatch;
  #versions = 0;
  #state: State | null = null;

  constructor(caches: LookupCaches, clock: Stopwatch) {
    this.#caches = caches;
    this.#clock = clock;
  }

  /** What is remembered of these, good if `isIn` then says so. */
  recall(of: {
    readonly hashes: readonly string[];
    readonly usernames: readonly string[];
  }): KnownForLookups {
    const version = this.#settle()?.version ?? null;
    const { callerCache, subjectCache } = this.#caches;
    return {
      callers: recallFrom(callerCache, of.hashes, version),
      people: recallFrom(subjectCache, of.usernames, version),
    };
  }

  /** Whether the store is in the state that is remembered; null is a state that nobody knows. */
  isIn(text: string | null): boolean {
    return text !== null && this.#state?.text === text;
  }

  /**
   * Remembers what a committed batch read. Of a new state only the state: a write may be counted before a snapshot shows
   * it, but every snapshot taken after the commit of this batch shows what was counted before that.
   */
  remember(text: string | null, { callers, people }: KnownForLookups): void {
    if (text === null) return;
    if (this.#state?.text !== text) {
      const sinceMs = this.#clock.monotonicMs();
      this.#state = { text, sinceMs, version: ++this.#versions };
      return;
    }
    const { version } = this.#state;
    for (const [hash, caller] of callers) this.#caches.callerCache.set(hash, version, caller);
    for (const [username, person] of people) {
      this.#caches.subjectCache.set(username, version, person);
    }
  }

  /**
   * Forgets everything when no transaction that was open when the state began can be open any more, and again after each
   * such time: servers do not count every way of writing, `$merge` and `applyOps` for example.
   */
  #settle(): State | null {
    const state = this.#state;
    const nowMs = this.#clock.monotonicMs();
    if (state === null || nowMs - state.sinceMs < OPEN_TRANSACTION_MS) return state;
    this.#state = { ...state, sinceMs: nowMs, version: ++this.#versions };
    return this.#state;
  }
}

function recallFrom<Value>(
  cache: VersionedCache<Value>,
  names: readonly string[],
  version: number | null,
): ReadonlyMap<string, Value> {
  const known = new Map<string, Value>();
  if (version === null) return known;
  for (const name of names) {
    const value = cache.get(name, version);
    if (value !== null) known.set(name, value);
  }
  return known;
}

// What lookups remember of people, good in one state of the store: the versions of repsync's own changes, in the snapshot
// of the batch, and the servers' counts of everybody's writes. docs/decisions/0044
import type { VersionedCache } from "../../ports/versioned-cache.ts";
import type { Stopwatch } from "./deadline.ts";

interface State {
  readonly text: string;
  /** Since when it is known. */
  readonly sinceMs: number;
  /** By which values of this state are remembered. */
  readonly version: number;
  /** Whether every transaction that was open when the state began is over. */
  readonly isSettled: boolean;
}

/**
 * A write is counted at its statement, a transaction may commit it later: MongoDB ends transactions after 60 seconds
 * unless it is set otherwise, and looks for such every 30.
 */
const OPEN_TRANSACTION_MS = 100_000;

/** People by username. */
export class LookupMemory<Value> {
  readonly #cache: VersionedCache<Value>;
  readonly #clock: Stopwatch;
  #versions = 0;
  #state: State | null = null;

  constructor(cache: VersionedCache<Value>, clock: Stopwatch) {
    this.#cache = cache;
    this.#clock = clock;
  }

  /** What is remembered of these people, good if `isIn` then says so. */
  recall(usernames: readonly string[]): Map<string, Value> {
    const known = new Map<string, Value>();
    const state = this.#settle();
    if (state === null) return known;
    for (const username of usernames) {
      const value = this.#cache.get(username, state.version);
      if (value !== null) known.set(username, value);
    }
    return known;
  }

  /** Whether the store is in the state that is remembered; null is a state that nobody knows. */
  isIn(text: string | null): boolean {
    return text !== null && this.#state?.text === text;
  }

  /**
   * Remembers what a committed batch read. Of a new state only the state: a write may be counted before a snapshot shows
   * it, but every snapshot taken after the commit of this batch shows what was counted before that.
   */
  remember(text: string | null, values: ReadonlyMap<string, Value>): void {
    if (text === null) return;
    if (this.#state?.text !== text) {
      const sinceMs = this.#clock.monotonicMs();
      this.#state = { text, sinceMs, version: ++this.#versions, isSettled: false };
      return;
    }
    const { version } = this.#state;
    for (const [username, value] of values) this.#cache.set(username, version, value);
  }

  /** Forgets everything once, when no transaction that was open when the state began can be open any more. */
  #settle(): State | null {
    const state = this.#state;
    if (state === null || state.isSettled) return state;
    if (this.#clock.monotonicMs() - state.sinceMs < OPEN_TRANSACTION_MS) return state;
    this.#state = { ...state, version: ++this.#versions, isSettled: true };
    return this.#state;
  }
}

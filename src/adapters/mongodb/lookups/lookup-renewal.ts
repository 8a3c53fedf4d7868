// Has what lookups remember of people read again beside the lookups, before it is too old, and a few at a time: within them,
// all would grow old together, and every batch would have some to read for half a minute. docs/decisions/0044
import type { Stopwatch } from "../driver/deadline.ts";
import type { Named } from "./lookup-memory.ts";

/** So many people are read at once; fewer are left to the lookup that asks when they are forgotten. */
const PEOPLE = 32;
/** Time between the ends and beginnings: reading takes some milliseconds that lookups do without. */
const PAUSE_MS = 100;

/** Reads together those who are due. */
export class LookupRenewal {
  readonly #clock: Stopwatch;
  readonly #readAgain: (named: Named) => Promise<void>;
  readonly #due = new Set<string>();
  /** Not before this is anybody read: never while some are. */
  #nextMs = 0;

  constructor(clock: Stopwatch, readAgain: (named: Named) => Promise<void>) {
    this.#clock = clock;
    this.#readAgain = readAgain;
  }

  /** Takes note of people who are due, and of the keys they were asked for with, without keeping the caller waiting. */
  keepUpWith({ hashes, usernames }: Named): void {
    for (const username of usernames) {
      if (this.#due.size < PEOPLE) this.#due.add(username);
    }
    if (this.#due.size < PEOPLE || this.#clock.monotonicMs() < this.#nextMs) return;
    const named = { hashes, usernames: [...this.#due] };
    this.#due.clear();
    this.#nextMs = Number.POSITIVE_INFINITY;
    this.#readAgain(named)
      // What fails is read by the lookups.
      .catch(() => {})
      .finally(() => {
        this.#nextMs = this.#clock.monotonicMs() + PAUSE_MS;
      });
  }
}

import type { Stopwatch } from "../driver/deadline.ts";
import type { StoreClock } from "../driver/server-clock.ts";

/** A clock that was set by less passes for one that was not. */
const MAX_ERROR_MS = 100;

/** The server's time between its replies: as it told it last, and what has passed here since. */
export class ServerTime {
  readonly #clock: Stopwatch;
  readonly #storeClock: StoreClock;
  /** The server's clock less the one here, most likely; null before any reply. */
  #aheadMs: number | null = null;

  constructor({ clock, storeClock }: { readonly clock: Stopwatch; storeClock: StoreClock }) {
    this.#clock = clock;
    this.#storeClock = storeClock;
  }

  /** Milliseconds since 1970; null when the server has not told any time yet. */
  nowMs(): number | null {
    if (this.#storeClock !== null) return this.#storeClock.nowMs();
    return this.#aheadMs === null ? null : Math.floor(this.#aheadMs + this.#clock.monotonicMs());
  }

  /**
   * Learns from a reply that is just here: the server told the time at some moment after `askedAtMs`. True when what
   * `nowMs` gave before fits that.
   */
  learn(toldMs: number, askedAtMs: number): boolean {
    if (this.#storeClock !== null) return true;
    const mostMs = toldMs - askedAtMs;
    const leastMs = toldMs - this.#clock.monotonicMs();
    const expectedMs = this.#aheadMs ?? mostMs;
    this.#aheadMs = Math.min(Math.max(expectedMs, leastMs), mostMs);
    return Math.abs(this.#aheadMs - expectedMs) <= MAX_ERROR_MS;
  }
}

// Repeats work that fails for a passing reason, within a deadline.
import { setImmediate as aTurn, setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../domain/shared/errors.ts";
import type { CallLimit } from "../../../ports/documents.ts";
import { type Clock, MAX_TIMER_MS } from "../../../ports/runtime/runtime.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import { isPassing, SERVERS_HINT } from "./errors.ts";

export type Stopwatch = Pick<Clock, "monotonicMs">;

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;

/** MongoDB did not answer before the end of the call. */
export class TimeUp extends AppError {
  constructor() {
    super("store_unavailable", "MongoDB did not answer in time", { hint: SERVERS_HINT });
  }
}

export class Deadline {
  readonly #clock: Stopwatch;
  readonly #limit: CallLimit;
  readonly #lastTryMs: number;
  readonly #endMs: number;

  /** Starts the time of a call, or takes the end that it has. */
  constructor(clock: Stopwatch, limit: CallLimit, endMs = clock.monotonicMs() + limit.endMs) {
    this.#clock = clock;
    this.#limit = limit;
    this.#lastTryMs = Math.min(clock.monotonicMs() + limit.triesMs, endMs);
    this.#endMs = endMs;
  }

  /** The same end with new time for tries, in which the outcome of a commit becomes known. */
  forCommit(): Deadline {
    return new Deadline(this.#clock, this.#limit, this.#endMs);
  }

  /** True when no try may follow. */
  isOver(): boolean {
    return this.#leftMs(this.#lastTryMs) <= 0;
  }

  /** Waits before the next try, longer after more tries, at most until tries end. */
  pause(tries: number, mostMs = LONGEST_PAUSE_MS): Promise<void> {
    const longestMs = Math.min(mostMs, FIRST_PAUSE_MS * 2 ** tries);
    // The fraction of the clock differs between callers that collided, and keeps them apart.
    const pauseMs = longestMs * (0.5 + ((this.#clock.monotonicMs() * 1000) % 500) / 1000);
    return sleep(Math.min(pauseMs, this.#leftMs(this.#lastTryMs)));
  }

  /** Settles as the work does, or throws `TimeUp` at the end of the call. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { promise: end, reject } = Promise.withResolvers<never>();
    const leftMs = Math.min(this.#leftMs(this.#endMs), MAX_TIMER_MS);
    using _timer = setTimeout(() => reject(new TimeUp()), leftMs);
    return await Promise.race([work, end]);
  }

  #leftMs(endMs: number): number {
    return Math.max(0, endMs - this.#clock.monotonicMs());
  }
}

/** Repeats an attempt that fails for passing reasons. Throws the last failure once tries end, and `TimeUp` at the end of the call. */
export async function retry<T>(deadline: Deadline, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await deadline.race(attempt());
    } catch (error) {
      if (!isPassing(error) || deadline.isOver()) throw error;
      await deadline.pause(tries);
    }
  }
}

/** Begins the first turn of work on many rows. D-7.9. */
export function beginTurns(clock: Stopwatch): Turns {
  return new Turns(clock, aTurn);
}

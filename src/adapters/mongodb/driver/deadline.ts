// Work that is tried again while it fails for a passing reason, within a deadline of repsync's own.
import { AppError } from "../../../domain/shared/errors.ts";
import { REQUEST_DEADLINE_MS } from "../../../domain/shared/limits.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import { isPassing } from "./errors.ts";

/** Measures deadlines. */
export type Stopwatch = Pick<Clock, "monotonicMs">;

/** How long one call of a port may take. */
export interface CallLimit {
  readonly durationMs: number;
  /** Whether a call ends in time even if MongoDB does not answer at all; otherwise only new tries stop. */
  readonly isHard: boolean;
}

/**
 * For pushes, pulls and runs. After the loss of a primary an election takes 10 s by MongoDB's default settings, measured in
 * all 11 to 13 s; a large push may take longer.
 */
export const SYNC_CALLS: CallLimit = { durationMs: 20_000, isHard: false };
/** For calls of requests under `/v1`. D-8.3. */
export const REQUEST_CALLS: CallLimit = { durationMs: REQUEST_DEADLINE_MS, isHard: true };

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;
/** Longer waits overflow the runtime's timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A hard deadline has passed while MongoDB did not answer. */
export class TimeUp extends AppError {
  constructor() {
    super("store_unavailable", "MongoDB did not answer in time");
  }
}

/** When a call has to end. */
export class Deadline {
  readonly isHard: boolean;
  readonly #clock: Stopwatch;
  readonly #endMs: number;

  constructor(clock: Stopwatch, endMs: number, isHard: boolean) {
    this.#clock = clock;
    this.#endMs = endMs;
    this.isHard = isHard;
  }

  /** Starts the time of a call. */
  static start(clock: Stopwatch, { durationMs, isHard }: CallLimit = SYNC_CALLS): Deadline {
    return new Deadline(clock, clock.monotonicMs() + durationMs, isHard);
  }

  isOver(): boolean {
    return this.#leftMs() <= 0;
  }

  /** Waits before try number `tries` + 1, longer each time, at most until the deadline. */
  pause(tries: number): Promise<void> {
    const longestMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
    // The fraction of the clock differs between callers that collided, so that they do not collide again.
    const pauseMs = longestMs * (0.5 + ((this.#clock.monotonicMs() * 1000) % 500) / 1000);
    return new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, this.#leftMs())));
  }

  /** Settles as the work does; throws `TimeUp` at the end of a hard deadline, whatever the work goes on to do. */
  async race<T>(work: Promise<T>): Promise<T> {
    if (!this.isHard) return await work;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new TimeUp()), Math.min(this.#leftMs(), MAX_TIMER_MS));
    });
    try {
      return await Promise.race([work, end]);
    } finally {
      clearTimeout(timer);
    }
  }

  #leftMs(): number {
    return Math.max(0, this.#endMs - this.#clock.monotonicMs());
  }
}

/** Repeats an attempt while it fails for passing reasons. Throws the last failure after the deadline. */
export async function retry<T>(deadline: Deadline, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error) || deadline.isOver()) throw error;
      await deadline.pause(tries);
    }
  }
}

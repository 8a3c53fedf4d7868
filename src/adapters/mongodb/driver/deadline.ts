// Work that is tried again while its failure is a passing one, within a time of our own.
import type { Clock } from "../../../ports/runtime/runtime.ts";
import { isPassing } from "./errors.ts";

/**
 * Time for one call of a port. An election takes 10 s after the loss of a primary with MongoDB's own settings, and
 * the measured whole of it 11 to 13 s.
 */
export const CALL_DEADLINE_MS = 20_000;

/** What measures deadlines. */
export type Stopwatch = Pick<Clock, "monotonicMs">;

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;

/** The end of the time a call has. */
export interface Deadline {
  isOver(): boolean;
  /** Waits before try number `tries` + 1, longer each time, at most to the end. */
  pause(tries: number): Promise<void>;
}

/** Starts the time of a call. */
export function startDeadline(clock: Stopwatch, durationMs = CALL_DEADLINE_MS): Deadline {
  const endMs = clock.monotonicMs() + durationMs;
  return {
    isOver: () => clock.monotonicMs() >= endMs,
    pause(tries) {
      const longestMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10));
      // The fraction of the clock spreads callers that collided, so that they do not meet again.
      const pauseMs = longestMs * (0.5 + ((clock.monotonicMs() * 1000) % 500) / 1000);
      const leftMs = Math.max(0, endMs - clock.monotonicMs());
      return new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)));
    },
  };
}

/** Repeats an attempt whose failures are passing ones. Throws the last failure when the time is over. */
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

import { AppError } from "../../../domain/shared/errors.ts";
import { MAX_TIMER_MS } from "../../../ports/runtime/runtime.ts";
import { BodyQueues, type Steps, Turns } from "../../../ports/runtime/turns.ts";
import type { SqliteConnection } from "./driver.ts";
import { isBusy } from "./errors.ts";

/** Lets one work at a time hold a connection, in the order of asking. */
export class WriteQueue {
  readonly #places = new BodyQueues();
  #taken = 0;

  get isTaken(): boolean {
    return this.#taken > 0;
  }

  /** Throws `store_unavailable` when the wait for the connection takes too long. */
  async run<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
    const { turn, leave } = this.#places.enter("write");
    this.#taken++;
    try {
      if (this.#taken > 1) await inTime(turn, limit.signal);
      return await work();
    } finally {
      this.#taken--;
      leave();
    }
  }
}

async function inTime(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const text = "The database is unavailable: it is being written to";
  const { promise: late, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new AppError("store_unavailable", text));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([late, turn]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The longest wait between tries; short, to catch the pauses of a busy writer. */
const BUSY_WAIT_MAX_MS = 10;

/** A time limit. It starts when its signal is first read, and counts real time, as a busy event loop makes waits longer. */
export class TimeLimit {
  readonly #durationMs: number;
  #signal: AbortSignal | null = null;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.timeout(Math.min(this.#durationMs, MAX_TIMER_MS));
    return this.#signal;
  }
}

/** Repeats work while another process holds the file, until the limit. Throws the driver's errors. */
export async function whileBusy<T>(
  driver: Pick<SqliteConnection, "resultCode">,
  limit: TimeLimit,
  work: () => Promise<T>,
): Promise<T> {
  for (let waitMs = 1; ; waitMs = Math.min(waitMs + 1, BUSY_WAIT_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(driver.resultCode(error)) || limit.signal.aborted) throw error;
    }
    await new Promise((wake) => setTimeout(wake, waitMs));
  }
}

// A push of 300,000 records would hold the event loop for seconds: its steps give others a turn every 12 ms, while a second
// connection reads the state before. The commit itself is one piece, of about a millisecond a megabyte of log.

/** A write is long after this many steps, or after one step that takes this long, such as a row of tens of megabytes. */
const LONG_WRITE_STEPS = 20_000;
const LONG_STEP_MS = 100;

/** Does the steps of a write, with pauses for others, and returns the result of the last step. */
export async function runSteps<T>(
  clock: { monotonicMs(): number; nextTurn(): Promise<void> },
  steps: Steps<T>,
  pause: (isLong: boolean, turn: () => Promise<void>) => Promise<void>,
): Promise<T> {
  const turns = new Turns(clock, () => clock.nextTurn());
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) {
    const isMany = ++count % LONG_WRITE_STEPS === 0;
    if (!isMany && !turns.isOver) continue;
    await pause(isMany || turns.elapsedMs >= LONG_STEP_MS, () => turns.next());
  }
  return step.value;
}

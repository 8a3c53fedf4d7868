import { AppError } from "../../../domain/shared/errors.ts";
import { type Steps, Turns } from "../../../ports/runtime/turns.ts";
import type { SqliteConnection } from "./driver.ts";
import { isBusy } from "./result-codes.ts";

/** Lets one write at a time hold the only connection that writes, in the order of asking. */
export class WriteQueue {
  #isTaken = false;
  readonly #waiting = new Set<() => void>();

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Runs work while it holds the connection. Throws `store_unavailable` when that takes too long to come. */
  async run<T>(limit: TimeLimit, work: () => Promise<T>): Promise<T> {
    if (this.#isTaken && !(await this.#wait(limit.signal))) {
      throw new AppError(
        "store_unavailable",
        "The database is unavailable: it is being written to",
      );
    }
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Resolves to true once all before have released it, and to false, without it, when the signal is aborted before. */
  #wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const onTurn = () => {
        signal.removeEventListener("abort", onAbort);
        resolve(true);
      };
      const onAbort = () => {
        this.#waiting.delete(onTurn);
        resolve(false);
      };
      if (signal.aborted) {
        resolve(false);
        return;
      }
      this.#waiting.add(onTurn);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Hands it to whoever has waited longest. */
  #release(): void {
    const [next] = this.#waiting;
    this.#isTaken = next !== undefined;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}

/** Waits between tries grow to this; they are short, to catch the pauses of a busy writer. */
const BUSY_WAIT_MAX_MS = 10;

/** Longer waits overflow the runtime's timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A time that begins to pass when the signal is first asked for. By real time, as a busy event loop makes waits longer. */
export class TimeLimit {
  readonly #durationMs: number;
  #signal: AbortSignal | null = null;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.timeout(Math.min(this.#durationMs, MAX_TIMER_MS));
    return this.#signal;
  }
}

/** Does work again while another process holds the file, until the limit; throws the driver's own errors. */
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

// A push of 300,000 records is one commit that would hold the event loop for seconds: each step has a turn for others every 12
// ms, while a second connection reads the state before. The commit itself cannot be cut, about a millisecond a megabyte of log.

/** Steps after which a write is a long one, and the time of one step that makes it so: that of a row of tens of megabytes. */
const LONG_WRITE_STEPS = 20_000;
const LONG_STEP_MS = 100;

/** Does the steps of a write, with pauses in between in which others have a turn: gives what the last step returns. */
export async function runSteps<T>(
  clock: { monotonicMs(): number; nextTurn(): Promise<void> },
  steps: Steps<T>,
  pause: (isLong: boolean, turn: () => Promise<void>) => Promise<void>,
): Promise<T> {
  const turns = new Turns(clock, () => clock.nextTurn());
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) {
    const isLong = ++count % LONG_WRITE_STEPS === 0 || turns.elapsedMs >= LONG_STEP_MS;
    if (isLong || turns.isOver) await pause(isLong, () => turns.next());
  }
  return step.value;
}

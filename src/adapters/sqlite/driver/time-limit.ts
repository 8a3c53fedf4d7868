import type { SqliteConnection } from "./driver.ts";
import { isBusy } from "./result-codes.ts";

/** Waits between tries grow to this; they are short, to catch the pauses of a busy writer. */
const BUSY_WAIT_MAX_MS = 10;

/** A time that begins to pass when the signal is first asked for. By real time, as a busy event loop makes waits longer. */
export class TimeLimit {
  readonly #durationMs: number;
  #signal: AbortSignal | null = null;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.timeout(this.#durationMs);
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

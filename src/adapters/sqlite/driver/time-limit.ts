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

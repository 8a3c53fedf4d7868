/** Lets time pass, so that tests need not wait. */
export interface Timer {
  /** Resolves after the given time, or as soon as `signal` is aborted. Never rejects. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

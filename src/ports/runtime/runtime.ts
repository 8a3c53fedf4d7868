/** The time, so that tests can set it. */
export interface Clock {
  /** Milliseconds since 1970, UTC; may jump when the machine's clock is set. For stored and shown times. */
  nowMs(): number;

  /** Milliseconds from some start that never go back. For durations and deadlines. */
  monotonicMs(): number;
}

/** Lets time pass, so that tests need not wait. */
export interface Timer {
  /** Resolves after the given time, or as soon as `signal` is aborted. Never rejects. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

/** The greatest delay that a timer of a runtime takes; it fires at once beyond it. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The result of work; null where it takes longer, and goes on. */
export async function within<T>(
  timer: Timer,
  durationMs: number,
  work: Promise<T>,
): Promise<T | null> {
  const settled = new AbortController();
  try {
    return await Promise.race([work, timer.sleep(durationMs, settled.signal).then(() => null)]);
  } finally {
    settled.abort();
  }
}

/** Does work again and again until `ended`, each time after a pause. */
export async function repeat(
  timer: Timer,
  pauseMs: number,
  ended: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    await timer.sleep(pauseMs, ended);
    if (ended.aborted) return;
    await work();
  }
}

/** Unique identifiers, so that tests can foresee them. */
export interface Ids {
  /** A new identifier that no other call anywhere gives: 8 to 64 letters, digits, `-` and `_`. */
  next(): string;
}

/** Random numbers, not for security; a port, so that tests can foresee them. */
export interface Random {
  /** A number from 0 to below 1. */
  next(): number;
}

/** Calls `work` once, after the events that have arrived by now, so that they can be handled together. */
export type Defer = (work: () => void) => void;

/** Frees unused memory, where the runtime can be told to; everything stands still meanwhile. */
export type CollectGarbage = () => void;

/** The times of a cron expression, in the time zone of the process. */
export interface CronTimes {
  /** The first time after another one, in milliseconds since 1970; null when none comes. Throws when the text is no cron expression. */
  nextAfter(cronText: string, afterMs: number): number | null;
}

/** Calls work at the times of a cron expression, in the time zone of the process. */
export interface Scheduler {
  /** A time that comes during earlier work is skipped. `work` never rejects. Throws when the text is no cron expression. */
  start(cronText: string, work: () => Promise<void>): { stop(): void };
}

/** Values that may stand in a log line. Never a key, token, password or row. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log lines. Never throws and never waits for the reader. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** `cause` is written in full, with its own causes; callers never see it. */
  error(message: string, cause: unknown, fields?: LogFields): void;
}

/**
 * Values by key, each with the version it was read at. The caller compares that with the store's, in the transaction of the answer,
 * so that no answer is older than the transaction. A cache may forget anything at any time. D-6.3.
 */
export interface ValueCache<Value extends object> {
  /** Null unless a value is kept for the key. */
  get(key: string): Value | null;

  /** Keeps a value in place of any other of the key. */
  set(key: string, value: Value): void;

  delete(key: string): void;

  /** Forgets every value: after a failure versions may not go on from where they were. */
  clear(): void;

  counts(): CacheCounts;
}

/** The counts of a cache since the start. */
export interface CacheCounts {
  readonly hits: number;
  /** The key was absent, or had another version. */
  readonly misses: number;
  /** Values dropped because the cache was full. */
  readonly evictions: number;
  readonly entries: number;
}

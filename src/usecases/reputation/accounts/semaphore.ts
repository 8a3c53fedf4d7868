// A long queue that is worked off to its end would answer only people who have left. So a task whose caller has gone leaves the
// queue. A task that would take longer than 9 s, by the mean time of recent ones, is refused as it comes, and again at its turn.
import { AppError } from "../../../domain/shared/errors.ts";
import { BUSY_LOOKUPS, PASSWORD_REST_MS } from "../../../domain/shared/limits.ts";
import type { Clock, Timer } from "../../../ports/runtime/runtime.ts";

/** To be called before a password is checked, and its result after: that resolves when the rest is over. */
type PasswordRest = () => () => Promise<void>;

interface SemaphoreLimits {
  /** The most tasks at once, 1 or more. */
  readonly maxRunning: number;
  /** The most tasks that wait, 0 or more. */
  readonly maxWaiting: number;
  /** Time within which a waiting task has to be done, or it is refused. */
  readonly maxMs: number;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** The rest after each task, during which its place stays taken. */
  readonly rest?: PasswordRest;
}

interface WaitingTask {
  readonly dueMs: number;
  begin(): void;
  refuse(): void;
}

/** Weight of the newest task in the mean time of recent ones. */
const NEWEST_WEIGHT = 1 / 8;

/** Runs a limited number of tasks at once, in the order in which they came, and none that nobody waits for. D-8.5, D-11.8. */
export class Semaphore {
  readonly #limits: SemaphoreLimits;
  #free: number;
  /** Mean time of recent tasks; null before the first has ended. */
  #taskMs: number | null = null;
  readonly #waiting: WaitingTask[] = [];

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
    this.#free = limits.maxRunning;
  }

  /** Runs work in its turn. Throws `overloaded` when too many wait, when it would end too late, or once `gone` aborts before. */
  async use<T>(work: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    if (gone?.aborted) throw overloaded();
    if (this.#free > 0) this.#free--;
    else await this.#wait(gone);
    const { clock, rest } = this.#limits;
    const startedAtMs = clock.monotonicMs();
    const rested = rest?.();
    const end = () => {
      const tookMs = clock.monotonicMs() - startedAtMs;
      this.#taskMs = (this.#taskMs ?? tookMs) * (1 - NEWEST_WEIGHT) + tookMs * NEWEST_WEIGHT;
      this.#goOn();
    };
    try {
      return await work();
    } finally {
      // Nobody but the next task waits for the rest.
      if (rested === undefined) end();
      else void rested().finally(end);
    }
  }

  async #wait(gone: AbortSignal | undefined): Promise<void> {
    const { maxRunning, maxWaiting, maxMs, clock } = this.#limits;
    const count = this.#waiting.length;
    // Rounds of the running tasks, the waiting ones, and this one.
    const rounds = 2 + Math.floor(count / maxRunning);
    if (count >= maxWaiting || rounds * (this.#taskMs ?? 0) > maxMs) throw overloaded();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const refuse = () => reject(overloaded());
    const task = { dueMs: clock.monotonicMs() + maxMs, begin: resolve, refuse };
    const leave = () => {
      const at = this.#waiting.indexOf(task);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      refuse();
    };
    this.#waiting.push(task);
    gone?.addEventListener("abort", leave);
    try {
      await promise;
    } finally {
      gone?.removeEventListener("abort", leave);
    }
  }

  #goOn(): void {
    const doneMs = this.#limits.clock.monotonicMs() + (this.#taskMs ?? 0);
    let next = this.#waiting.shift();
    while (next !== undefined && next.dueMs < doneMs) {
      next.refuse();
      next = this.#waiting.shift();
    }
    if (next === undefined) this.#free++;
    else next.begin();
  }
}

function overloaded(): AppError {
  return new AppError("overloaded", "Too many others are signing in");
}

/** Rests between passwords while lookups, counted since the start, are answered: each takes a core for about 20 ms. D-8.5. */
export function makePasswordRest(timer: Timer, lookups: () => number): PasswordRest {
  return () => {
    const before = lookups();
    return async () => {
      if (lookups() - before >= BUSY_LOOKUPS) await timer.sleep(PASSWORD_REST_MS);
    };
  };
}

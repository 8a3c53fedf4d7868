import { AppError } from "../../../domain/shared/errors.ts";

interface SemaphoreLimits {
  /** Tasks at once, 1 or more. */
  readonly maxRunning: number;
  /** Tasks that wait for their turn, 0 or more. */
  readonly maxWaiting: number;
  /** Called when a task begins; what it returns is called when the task has ended, and keeps its place taken meanwhile. */
  readonly rest?: () => () => Promise<void>;
}

/** Runs at most so many tasks at once, in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #maxWaiting: number;
  readonly #rest: SemaphoreLimits["rest"];
  readonly #waiting: (() => void)[] = [];

  constructor({ maxRunning, maxWaiting, rest }: SemaphoreLimits) {
    this.#free = maxRunning;
    this.#maxWaiting = maxWaiting;
    this.#rest = rest;
  }

  /** Runs the work once it is its turn; settles as the work does. Throws `overloaded` at once when too many wait. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length < this.#maxWaiting) {
      await new Promise<void>((resume) => this.#waiting.push(resume));
    } else throw new AppError("overloaded", "Too many others are signing in; try again soon");
    const rest = this.#rest?.();
    try {
      return await work();
    } finally {
      // Nobody but the next task waits for the rest.
      if (rest === undefined) this.#goOn();
      else void rest().finally(() => this.#goOn());
    }
  }

  #goOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

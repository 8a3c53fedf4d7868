/** Runs at most so many tasks at once, in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `count` is 1 or more. */
  constructor(count: number) {
    this.#free = count;
  }

  /** Runs the work once there is a slot for it; settles as the work does. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resume) => this.#waiting.push(resume));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/** Lets work through, so much at a time, in the order in which it came. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `count` is 1 or more. */
  constructor(count: number) {
    this.#free = count;
  }

  /** Does the work once there is a slot for it; settles as the work does. */
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

/** Work for callers who may come many at once: those who come while it is under way share the next turn of it. */
export class SharedWork<Outcome> {
  readonly #work: () => Promise<Outcome>;
  #underWay: Promise<unknown> = Promise.resolve();
  /** The turn that has not begun. */
  #next: Promise<Outcome> | null = null;

  constructor(work: () => Promise<Outcome>) {
    this.#work = work;
  }

  /** Settles as a turn of the work that begins after the call. */
  outcome(): Promise<Outcome> {
    this.#next ??= this.#underWay
      .catch(() => {})
      .then(() => {
        this.#next = null;
        const begun = this.#work();
        this.#underWay = begun;
        return begun;
      });
    return this.#next;
  }
}

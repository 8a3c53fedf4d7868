/** Work for many callers at once: those who come while it is under way share its next round. */
export class SharedWork<Outcome> {
  readonly #work: () => Promise<Outcome>;
  #underWay: Promise<unknown> = Promise.resolve();
  /** The round that has not begun. */
  #next: Promise<Outcome> | null = null;

  constructor(work: () => Promise<Outcome>) {
    this.#work = work;
  }

  /** Settles as a round of the work that begins after the call. */
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

interface PlaceInQueue {
  /** Resolves once all before have left. */
  readonly turn: Promise<void>;
  leave(): void;
}

/**
 * Lets bodies of one process run one after the other that would meet each other: of 30 changes of one document at once each
 * ran six times on MongoDB, and lookups beside 30 consents a second fell to a ninth.
 */
export class BodyQueue {
  #last: Promise<void> = Promise.resolve();

  /** Gives the place at the end. */
  enter(): PlaceInQueue {
    const turn = this.#last;
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    this.#last = turn.then(() => left);
    return { turn, leave };
  }
}

/** A queue for each name. */
export class BodyQueues {
  readonly #queues = new Map<string, BodyQueue>();

  of(name: string): BodyQueue {
    const queue = this.#queues.get(name) ?? new BodyQueue();
    this.#queues.set(name, queue);
    return queue;
  }
}

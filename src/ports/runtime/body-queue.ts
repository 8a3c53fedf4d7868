export interface PlaceInQueue {
  /** Resolves once all before have left. */
  readonly turn: Promise<void>;
  leave(): void;
}

/**
 * Runs bodies of one process that would meet each other one after the other. Without it, of 30 changes of one document at once each
 * ran six times on MongoDB, and lookups beside 30 consents a second fell to a ninth.
 */
export class BodyQueues {
  /** The end of the last place, by the name of the bodies. */
  readonly #last = new Map<string, Promise<void>>();

  /** Gives the place at the end of the queue of a name. */
  enter(name: string): PlaceInQueue {
    const turn = this.#last.get(name) ?? Promise.resolve();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    this.#last.set(
      name,
      turn.then(() => left),
    );
    return { turn, leave };
  }
}

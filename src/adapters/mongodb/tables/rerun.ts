// What was learnt of a refused record is kept by the number of the write in the body, so bodies make the same calls in the same
// order.
import type { TransactionScope } from "../driver/transaction.ts";

/** Ends an attempt whose transaction is over for a reason that the next one knows how to avoid. */
export class Rerun extends Error {
  /** Finds out what the next attempt needs, outside of transactions or in some that are taken back. */
  readonly learn: (scope: TransactionScope) => Promise<void>;

  constructor(learn: (scope: TransactionScope) => Promise<void>) {
    super("The transaction runs again");
    this.learn = learn;
  }
}

/** Makes attempts until one ends otherwise than by a `Rerun`. */
export async function withReruns<T>(
  scope: TransactionScope,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Rerun)) throw error;
      await error.learn(scope);
    }
  }
}

import {
  type AttemptCounter,
  forgottenUntil,
  longestWait,
  withEvents,
} from "../../domain/reputation/accounts/attempts.ts";
import type { DocumentStore } from "../../ports/documents.ts";
import { SIGN_INS } from "./account-collections.ts";

/** Counters without events that one `count` forgets at most. */
const MAX_FORGOTTEN = 100;

/**
 * Counts sign-in failures and signups, to slow down guessing, and changes of accounts. D-5.4, D-8.5. Shared by all
 * instances, durably. An erasure removes what is counted of the person (`attemptsOf`).
 *
 * Parallel guesses must reveal no more than guesses one after the other. So ask
 * `retryAfterSeconds` before looking at a password, and again when it proved right; `count` when it proved wrong, and
 * let the answer depend on what `count` says. Both throw `store_unavailable`.
 */
export class SignIns {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /**
   * How long the caller has to wait, in whole seconds from 1, when one of the counters has reached its limit: until
   * the last of them is below it again. Null when it may go on. Counts nothing.
   */
  async retryAfterSeconds(counters: readonly AttemptCounter[]): Promise<number | null> {
    if (counters.length === 0) return null;
    const keys = counters.map(({ key }) => key);
    const [known] = await this.#documents.read({ name: "sign_ins.retry_after" }, (at) =>
      at.read({ from: SIGN_INS, keys }),
    );
    return longestWait(counters, known);
  }

  /**
   * Counts one event on each counter and resolves to null; or, when one of them has reached its limit, counts nothing
   * and resolves as `retryAfterSeconds`. One step: no counter ever holds more events than its limit, however many
   * callers count at once. Events that no longer count are dropped in passing.
   */
  async count(counters: readonly AttemptCounter[]): Promise<number | null> {
    if (counters.length === 0) return null;
    const keys = counters.map(({ key }) => key);
    const ended = { index: "end", upTo: [forgottenUntil(counters)], limit: MAX_FORGOTTEN };
    return await this.#documents.transact({ name: "sign_ins.count" }, async (tx) => {
      const [known, forgotten] = await tx.read(
        { from: SIGN_INS, keys },
        { from: SIGN_INS, keysOf: ended },
      );
      const wait = longestWait(counters, known);
      if (wait !== null) return wait;
      for (const key of forgotten) tx.remove(SIGN_INS, key);
      for (const events of withEvents(counters, known)) tx.put(SIGN_INS, events);
      return null;
    });
  }
}

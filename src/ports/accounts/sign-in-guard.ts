/**
 * Counts sign-in failures and signups, to slow down guessing, and changes of accounts. D-5.4, D-8.5. Shared by all
 * instances, durably. `Membership.erase` removes what is counted of the person (`attemptsOf`).
 *
 * Parallel guesses must reveal no more than guesses one after the other. So ask
 * `retryAfterSeconds` before looking at a password, and again when it proved right; `count` when it proved wrong, and
 * let the answer depend on what `count` says. Both throw `store_unavailable`.
 */
export interface SignInGuard {
  /**
   * How long the caller has to wait, in whole seconds from 1, when one of the counters has reached its limit: until
   * the last of them is below it again. Null when it may go on. Counts nothing.
   */
  retryAfterSeconds(counters: readonly AttemptCounter[]): Promise<number | null>;

  /**
   * Counts one event on each counter and resolves to null; or, when one of them has reached its limit, counts nothing
   * and resolves as `retryAfterSeconds`. One step: no counter ever holds more events than its limit, however many
   * callers count at once. Events that no longer count are dropped in passing.
   */
  count(counters: readonly AttemptCounter[]): Promise<number | null>;
}

/** One sliding count: the events of its name whose `nowMs` was less than `windowMs` away from this `nowMs`. */
export interface AttemptCounter {
  /** Such as `account:ana` or `address:203.0.113.9`; any text. */
  readonly name: string;
  /** Events that are too many, 1 or more. */
  readonly limit: number;
  /** The same for every use of a name. */
  readonly windowMs: number;
  readonly nowMs: number;
}

/** The time, so that tests can set it. */
export interface Clock {
  /** Milliseconds since 1970, UTC; may jump when the machine's clock is set. For what is stored or shown. */
  nowMs(): number;

  /** Milliseconds from some start that never go back. For durations and deadlines. */
  monotonicMs(): number;
}

/** Random numbers that nobody's security depends on, so that tests can foresee them. */
export interface Random {
  /** A number from 0 to below 1. */
  next(): number;
}

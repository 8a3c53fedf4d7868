/** Unique identifiers, so that tests can foresee them. */
export interface Ids {
  /** A new identifier that no other call anywhere gives: 8 to 64 letters, digits, `-` and `_`. */
  next(): string;
}

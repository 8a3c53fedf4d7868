export interface Session {
  /** Stands for the token's `jti`, from which it is made by an HMAC: nobody can make a token of what is stored. D-8.7. */
  readonly id: string;
  readonly username: string;
  readonly expiresAtMs: number;
}

/**
 * Sessions that were begun here and have not ended. Time is as in `LeaseStore`. Every method throws
 * `store_unavailable` when the store cannot be reached in time or cannot write.
 */
export interface SessionStore {
  /** Keeps a session durably. Sessions past their end are dropped in passing. */
  begin(session: Session): Promise<void>;

  /**
   * True for a session of this account that was begun, has not been ended, and is before its `expiresAtMs`. Sees what
   * any instance did as soon as that has resolved: `end`, and `remove` of the account. D-6.3.
   */
  isKnown(id: string, username: string): Promise<boolean>;

  /**
   * Moves the end of a session that has not ended to a later time, durably; never to an earlier one. False, and nothing is
   * done, for one that has ended: no session begins again. D-9.3.
   */
  extend(id: string, expiresAtMs: number): Promise<boolean>;

  /** Ends a session. Idempotent; durable when it resolves. */
  end(id: string): Promise<void>;

  /** Ends all sessions of an account. Idempotent; durable when it resolves. */
  endAllOf(username: string): Promise<void>;
}

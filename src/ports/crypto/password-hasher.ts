/** Argon2id password hashes in PHC form. Work happens off the event loop. D-5.4. */
export interface PasswordHasher {
  /** A new hash with a salt of its own. The password is not empty. */
  hash(password: string): Promise<string>;

  /**
   * True when the password belongs to the hash. With null, which stands for an account that is not there, it takes as
   * long and is false.
   */
  verify(password: string, hash: string | null): Promise<boolean>;
}

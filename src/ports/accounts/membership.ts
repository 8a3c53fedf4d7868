import type { Account } from "../../domain/reputation/accounts/account.ts";
import type { AdminRequest } from "../../domain/reputation/audit/admin-entry.ts";
import type { AccountConflict } from "./account-store.ts";

export interface Enrolment {
  readonly account: Account;
  /** Of the profile; null leaves it empty. */
  readonly displayName: string | null;
}

/** Signup and erasure: both change accounts and the synchronized tables in one commit. D-5.4, D-5.5. */
export interface Membership {
  /**
   * Makes an account and its profile in one commit. `username_taken` when an account, a profile or a platform account of that
   * name exists, or the name was erased and is taken; `email_taken` when an account has the address in any case; nothing is written then. Of two at once one wins.
   * Throws `commit_failed` or `store_unavailable`.
   */
  enrol(enrolment: Enrolment): Promise<"enrolled" | AccountConflict>;

  /**
   * Removes everything about a person in one commit: account, sessions, keys, consents, usage, profile, platform accounts,
   * their rows in the rejected store, failed sign-ins, and what connects their audit records with their name. Once it has resolved, no instance answers from any of it.
   * The name is remembered as an HMAC, with the time and the calls of its month, and is taken until `Administration.release`
   * or `AccountStore.create` (D-8.2). By an administrator's request it keeps the audit record in the same commit.
   * `last_administrator`, and nothing is removed, when nobody else could administer then; `absent` when there was no account.
   * Throws as above.
   */
  erase(
    username: string,
    request?: AdminRequest,
  ): Promise<"erased" | "last_administrator" | "absent">;
}

import type { Account } from "../../domain/reputation/accounts/account.ts";
import type { CallHistory } from "../../domain/reputation/accounts/call-history.ts";
import type { MeterReading } from "../../domain/reputation/accounts/call-meter.ts";
import type { EffectiveLimits } from "../../domain/reputation/accounts/plan.ts";

export type AccountConflict = "username_taken" | "email_taken";

/** Which part of the accounts to list. */
export interface AccountPage {
  /** Text that the name or the address contains, whatever the case of A to Z; null for all. */
  readonly text: string | null;
  /** 1 or more. */
  readonly limit: number;
  /** Null for the first part. */
  readonly afterUsername: string | null;
}

export interface PasswordChange {
  /** The hash that the account has to have. */
  readonly from: string;
  readonly to: string;
  /** The session that goes on; null for none. */
  readonly keptSession: string | null;
}

/**
 * Accounts by username, which is compared exactly. E-mail addresses are kept as written and are the same when their
 * `emailKey` is. Every method throws `store_unavailable` when the store cannot be reached in time or cannot write.
 */
export interface AccountStore {
  /**
   * Keeps a new account, durably, or tells what is taken; `username_taken` when both are. Of several at once exactly
   * one wins. A session that an earlier account of this name left ends in the same commit. With it a new person begins
   * where the name was erased: it is not taken any more, and the calls of its month go on counting; by a token only one
   * that `isIssuedSince`, else it resolves to `erased_since` and nothing is written. D-8.2.
   */
  create(
    account: Account,
    by?: { readonly tokenIssuedAtMs: number | null },
  ): Promise<"created" | AccountConflict | "erased_since">;

  /** True when any account is an administrator's. */
  hasAdministrator(): Promise<boolean>;

  /** The account as last written by any instance; null when there is none. */
  find(username: string): Promise<Account | null>;

  /** In the order of their names by code point. It lets other work go between parts of a long search. */
  list(page: AccountPage): Promise<readonly Account[]>;

  /** Keeps when an account signed in last; an account that is gone is none. */
  noteSignIn(username: string, nowMs: number): Promise<void>;

  /**
   * Changes the password and ends the account's sessions in one commit, durably. Once it has resolved no instance knows
   * them any more. False, and nothing is changed, when there is no such account or it has another password now.
   */
  changePassword(username: string, change: PasswordChange): Promise<boolean>;

  /**
   * Removes the account and ends its sessions in one commit, durably. Username and address are free again. Resolves to
   * false when there was none.
   */
  remove(username: string): Promise<boolean>;
}

/** The calls of an account at one moment of the store's clock. */
export interface UsageReading {
  readonly reading: MeterReading;
  readonly nowMs: number;
}

export interface UsageStore {
  /** The calls of an account by now, other instances' included. Throws `store_unavailable`. */
  read(username: string, limits: EffectiveLimits): Promise<UsageReading>;

  /** What lookups kept of an account's calls in their own commits. D-8.11. Throws `store_unavailable`. */
  history(username: string): Promise<CallHistory>;
}

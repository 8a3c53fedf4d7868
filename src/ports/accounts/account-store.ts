import type { Account } from "../../domain/reputation/accounts/account.ts";
import type { CallHistory } from "../../domain/reputation/accounts/call-history.ts";
import type { MeterReading } from "../../domain/reputation/accounts/call-meter.ts";
import type { EffectiveLimits } from "../../domain/reputation/accounts/plan.ts";

export type AccountConflict = "username_taken" | "email_taken";

/** Fields of an account that may change. */
export type AccountChanges = Partial<
  Omit<Account, "username" | "email" | "createdAtMs" | "passwordHash">
>;

export interface PasswordChange {
  /** The hash that the account has to have; null for any. */
  readonly from: string | null;
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

  /** The account as last written by any instance; null when there is none. */
  find(username: string): Promise<Account | null>;

  /**
   * Changes the given fields in one commit, durably, and leaves the others as any instance wrote them last. Resolves
   * to the account as it is then; null when there is none.
   */
  update(username: string, changes: AccountChanges): Promise<Account | null>;

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

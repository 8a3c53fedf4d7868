import type { Account } from "../../domain/reputation/accounts/account.ts";
import type { AccountPlan } from "../../domain/reputation/accounts/plan.ts";
import type { AdminRequest } from "../../domain/reputation/audit/admin-entry.ts";

/**
 * What administrators do to accounts and names. Each method that changes something keeps the audit record of it in the
 * same commit, durably; one that refuses changes nothing and keeps none. Throws `commit_failed` or `store_unavailable`.
 * D-8.8.
 */
export interface Administration {
  /**
   * Suspends an account and ends its sessions. Once it has resolved no instance answers its keys or knows its sessions.
   * One that is suspended stays so, with its time. `last_administrator` when nobody else could administer then; of two
   * that would suspend or erase each other at once, one is refused. Null when there is no such account.
   */
  suspend(
    username: string,
    request: AdminRequest,
    nowMs: number,
  ): Promise<Account | "last_administrator" | null>;

  /** Ends a suspension; one that is active stays so. Null when there is no such account. */
  restore(username: string, request: AdminRequest): Promise<Account | null>;

  /** For the next call, on every instance. Null when there is no such account. */
  changePlan(username: string, plan: AccountPlan, request: AdminRequest): Promise<Account | null>;

  /** Gives an account another password and ends all its sessions. `no_password` for one of an identity provider. */
  setPassword(
    username: string,
    passwordHash: string,
    request: AdminRequest,
  ): Promise<"changed" | "no_password" | null>;

  /** Makes a name that was erased free again. Resolves to false when it was not taken so. D-8.2. */
  release(username: string, request: AdminRequest): Promise<boolean>;
}

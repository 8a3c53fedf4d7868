import type { Account } from "../../../domain/reputation/accounts/account.ts";
import type { AccountPlan } from "../../../domain/reputation/accounts/plan.ts";
import type { AdminAct, AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import type { AdminAction } from "../../../domain/reputation/audit/audit-chain.ts";
import type { Administration } from "../../../ports/accounts/administration.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteValue } from "../driver/driver.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { findAccount, isLastAdministrator } from "./account-store.ts";
import { endSessionsOf } from "./own-documents.ts";

/** Adds an audit record, within a write. */
export type NoteAdminAct = (act: AdminAct) => void;

/** What one act writes: a statement, and its values before the username. */
type Change = readonly [sql: string, values: readonly SqliteValue[]];

const SUSPEND =
  "UPDATE repsync_accounts SET suspended_at_ms = ifnull(suspended_at_ms, ?) WHERE username = ?";
const RESTORE = "UPDATE repsync_accounts SET suspended_at_ms = NULL WHERE username = ?";
const CHANGE_PLAN = `UPDATE repsync_accounts SET plan = ?, calls_per_month = ?, rate_limit_per_minute = ?
  WHERE username = ?`;
const SET_PASSWORD = "UPDATE repsync_accounts SET password_hash = ? WHERE username = ?";

export class SqliteAdministration implements Administration {
  readonly #database: SqliteDatabase;
  readonly #erasedNames: ErasedNames;
  readonly #noteAdminAct: NoteAdminAct;

  constructor(database: SqliteDatabase, erasedNames: ErasedNames, noteAdminAct: NoteAdminAct) {
    this.#database = database;
    this.#erasedNames = erasedNames;
    this.#noteAdminAct = noteAdminAct;
  }

  async suspend(
    username: string,
    request: AdminRequest,
    nowMs: number,
  ): Promise<Account | "last_administrator" | null> {
    return this.#database.write(() => {
      const account = findAccount(this.#database, username);
      if (account === null) return null;
      if (isLastAdministrator(this.#database, account)) return "last_administrator";
      endSessionsOf(this.#database, username);
      return this.#change({ action: "suspend", username, ...request }, [SUSPEND, [nowMs]]);
    }, []);
  }

  async restore(username: string, request: AdminRequest): Promise<Account | null> {
    return this.#changeKnown("restore", username, { request, change: [RESTORE, []] });
  }

  async changePlan(
    username: string,
    { plan, callsPerMonth, rateLimitPerMinute }: AccountPlan,
    request: AdminRequest,
  ): Promise<Account | null> {
    const change: Change = [CHANGE_PLAN, [plan, callsPerMonth, rateLimitPerMinute]];
    return this.#changeKnown("plan", username, { request, change });
  }

  async setPassword(
    username: string,
    passwordHash: string,
    request: AdminRequest,
  ): Promise<"changed" | "no_password" | null> {
    return this.#database.write(() => {
      const account = findAccount(this.#database, username);
      if (account === null) return null;
      if (account.passwordHash === null) return "no_password";
      endSessionsOf(this.#database, username);
      this.#change({ action: "password", username, ...request }, [SET_PASSWORD, [passwordHash]]);
      return "changed";
    }, []);
  }

  async release(username: string, request: AdminRequest): Promise<boolean> {
    return this.#database.write(() => {
      if (!this.#erasedNames.release(username)) return false;
      this.#noteAdminAct({ action: "release", username, ...request });
      return true;
    }, []);
  }

  #changeKnown(
    action: AdminAction,
    username: string,
    { request, change }: { readonly request: AdminRequest; readonly change: Change },
  ): Promise<Account | null> {
    return this.#database.write(() => {
      if (findAccount(this.#database, username) === null) return null;
      return this.#change({ action, username, ...request }, change);
    }, []);
  }

  /** The account after the change, within a write. */
  #change(act: AdminAct, [sql, values]: Change): Account | null {
    this.#database.run(sql, [...values, act.username]);
    this.#noteAdminAct(act);
    return findAccount(this.#database, act.username);
  }
}

import type { ClientSession, UpdateFilter } from "mongodb";
import type { Account } from "../../../domain/reputation/accounts/account.ts";
import type { AccountPlan } from "../../../domain/reputation/accounts/plan.ts";
import type { AdminAct, AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import type { AdminAction } from "../../../domain/reputation/audit/audit-chain.ts";
import type { Administration } from "../../../ports/accounts/administration.ts";
import { writeTogether } from "../driver/operations.ts";
import { changePerson, type VersionedDeps } from "../driver/person-changes.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { type AccountDocument, accountsOf } from "../people/name-facts.ts";
import { findAccount, isLastAdministrator } from "./account-store.ts";
import { endSessionsOf } from "./own-documents.ts";

/** Adds an audit record, within a transaction. */
export type NoteAdminAct = (act: AdminAct, tx: ClientSession) => Promise<void>;

export interface AdministrationDeps extends VersionedDeps {
  readonly erasedNames: ErasedNames;
  readonly noteAdminAct: NoteAdminAct;
}

interface Act<Refusal> {
  readonly action: AdminAction;
  readonly request: AdminRequest;
  readonly change: UpdateFilter<AccountDocument>;
  /** Why the act is refused, or null after what goes with it; within its transaction. */
  readonly prepare?: (account: Account, tx: ClientSession) => Promise<Refusal | null>;
}

export class MongoAdministration implements Administration {
  readonly #deps: AdministrationDeps;

  constructor(deps: AdministrationDeps) {
    this.#deps = deps;
  }

  async suspend(
    username: string,
    request: AdminRequest,
    nowMs: number,
  ): Promise<Account | "last_administrator" | null> {
    const { db } = this.#deps;
    return await this.#do(username, ({ suspendedAtMs }) => ({
      action: "suspend",
      request,
      change: { $set: { suspendedAtMs: suspendedAtMs ?? nowMs } },
      prepare: async (account, tx) => {
        if (await isLastAdministrator(db, account, tx)) return "last_administrator";
        await endSessionsOf(db, username, tx);
        return null;
      },
    }));
  }

  async restore(username: string, request: AdminRequest): Promise<Account | null> {
    const change = { $set: { suspendedAtMs: null } };
    return await this.#do<never>(username, () => ({ action: "restore", request, change }));
  }

  async changePlan(
    username: string,
    { plan, callsPerMonth, rateLimitPerMinute }: AccountPlan,
    request: AdminRequest,
  ): Promise<Account | null> {
    const change = { $set: { plan, callsPerMonth, rateLimitPerMinute } };
    return await this.#do<never>(username, () => ({ action: "plan", request, change }));
  }

  async setPassword(
    username: string,
    passwordHash: string,
    request: AdminRequest,
  ): Promise<"changed" | "no_password" | null> {
    const done = await this.#do<"no_password">(username, () => ({
      action: "password",
      request,
      change: { $set: { passwordHash } },
      prepare: async (account, tx) => {
        if (account.passwordHash === null) return "no_password";
        await endSessionsOf(this.#deps.db, username, tx);
        return null;
      },
    }));
    return done === null || done === "no_password" ? done : "changed";
  }

  async release(username: string, request: AdminRequest): Promise<boolean> {
    const { erasedNames, noteAdminAct } = this.#deps;
    return await writeTogether(this.#deps, async (tx) => {
      if (!(await erasedNames.release(username, tx))) return false;
      await noteAdminAct({ action: "release", username, ...request }, tx);
      return true;
    });
  }

  /** The account after the act, or why that was refused; null when there is no account. */
  async #do<Refusal>(
    username: string,
    actOn: (account: Account) => Act<Refusal>,
  ): Promise<Account | Refusal | null> {
    const { db, noteAdminAct } = this.#deps;
    return await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const account = await findAccount(db, username, tx);
      if (account === null) return null;
      const { action, request, change, prepare } = actOn(account);
      const refusal = (await prepare?.(account, tx)) ?? null;
      if (refusal !== null) return refusal;
      await accountsOf(db).updateOne({ _id: username }, change, { session: tx });
      await noteAdminAct({ action, username, ...request }, tx);
      await raise();
      return await findAccount(db, username, tx);
    });
  }
}

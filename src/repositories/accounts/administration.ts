import {
  type Account,
  isActiveAdministrator,
  NO_PASSWORD,
} from "../../domain/reputation/accounts/account.ts";
import type { AccountPlan } from "../../domain/reputation/accounts/plan.ts";
import type { AdminRequest, FileAct, RowAct } from "../../domain/reputation/audit/admin-entry.ts";
import type { AdminAction } from "../../domain/reputation/audit/audit-chain.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import { AppError } from "../../domain/shared/errors.ts";
import type { DocumentStore, Transaction } from "../../ports/documents.ts";
import {
  ACCOUNTS,
  ACTIVE,
  type AccountDocument,
  ADMINISTRATORS,
  accountOf,
  ERASED_NAMES,
  findAccount,
} from "../account-collections.ts";
import type { AuditChains } from "../lookups/audit-chains.ts";
import { Repository } from "../repository.ts";
import type { HmacOfName } from "./names.ts";
import { endSessionsOf } from "./sessions.ts";

interface AdministrationDeps {
  readonly documents: DocumentStore;
  readonly hmacOf: HmacOfName;
  readonly chains: AuditChains;
}

/** Acts of administrators. The commit of a change has its audit record; a refused change has none. D-8.8. */
export class Administration extends Repository {
  readonly #deps: AdministrationDeps;

  constructor(deps: AdministrationDeps) {
    super(deps.documents);
    this.#deps = deps;
  }

  /**
   * Suspends an account and ends its sessions. Once it has resolved no instance answers its keys or knows its sessions. A suspended
   * account keeps its time. Throws as `requireOtherAdministrator`. Null when there is no such account.
   */
  async suspend(username: string, request: AdminRequest, nowMs: number): Promise<Account | null> {
    return await this.writing("administration.suspend", async (tx) => {
      const keys = keysOf(username);
      const [, [account]] = await tx.read(ADMINISTRATORS_LOCK, { from: ACCOUNTS, keys });
      if (account === undefined) return null;
      await requireOtherAdministrator(tx, account);
      await endSessionsOf(tx, username);
      const suspendedAtMs = account.suspendedAtMs ?? nowMs;
      return await this.#keep(tx, { ...account, suspendedAtMs }, "suspend", request);
    });
  }

  /** Ends a suspension, if any. Null when there is no such account. */
  async restore(username: string, request: AdminRequest): Promise<Account | null> {
    return await this.writing("administration.restore", async (tx) => {
      const account = await findAccount(tx, username);
      const changed = account && { ...account, suspendedAtMs: null };
      return changed && (await this.#keep(tx, changed, "restore", request));
    });
  }

  /** Holds from the next call on, on every instance. Null when there is no such account. */
  async changePlan(
    username: string,
    { plan, callsPerMonth, rateLimitPerMinute }: AccountPlan,
    request: AdminRequest,
  ): Promise<Account | null> {
    return await this.writing("administration.change_plan", async (tx) => {
      const account = await findAccount(tx, username);
      const changed = account && { ...account, plan, callsPerMonth, rateLimitPerMinute };
      return changed && (await this.#keep(tx, changed, "plan", request));
    });
  }

  /** Ends all sessions, too. Throws `conflict` for an account of an identity provider. Null when there is no such account. */
  async setPassword(
    username: string,
    passwordHash: string,
    request: AdminRequest,
  ): Promise<Account | null> {
    return await this.writing("administration.set_password", async (tx) => {
      const account = await findAccount(tx, username);
      if (account === null) return null;
      if (account.passwordHash === null) throw new AppError("conflict", NO_PASSWORD);
      await endSessionsOf(tx, username);
      return await this.#keep(tx, { ...account, passwordHash }, "password", request);
    });
  }

  /** Frees an erased name. Resolves to false when it was not taken so. D-8.2. */
  async release(username: string, request: AdminRequest): Promise<boolean> {
    const { hmacOf, chains } = this.#deps;
    const keys = [[hmacOf(username)]];
    return await this.writing("administration.release", async (tx) => {
      const [[erased]] = await tx.read({ from: ERASED_NAMES, keys });
      if (erased === undefined || !erased.isTaken) return false;
      tx.put(ERASED_NAMES, { ...erased, isTaken: false });
      await chains.noteAct(tx, { action: "release", actedOn: username, ...request });
      return true;
    });
  }

  /** Stores the audit record of an act on a row, in the body of the act. D-14.3. */
  async noteRowAct(tx: Transaction, act: RowAct): Promise<void> {
    await this.#deps.chains.noteRowAct(tx, act);
  }

  /** Stores the audit record of a file that was read or written. D-14.3. */
  async noteFileAct(act: FileAct): Promise<void> {
    const { chains } = this.#deps;
    await this.writing("administration.note_file", (tx) => chains.noteFileAct(tx, act));
  }

  /** Keeps a changed account, with the record of the act. */
  async #keep(
    tx: Transaction,
    account: AccountDocument,
    action: AdminAction,
    request: AdminRequest,
  ): Promise<Account> {
    const { username } = account;
    tx.put(ACCOUNTS, account);
    await this.#deps.chains.noteAct(tx, { action, actedOn: username, ...request });
    tx.raise([username]);
    return accountOf(account);
  }
}

const LAST_ADMINISTRATOR = "This is the last administrator that is not suspended";

/**
 * Belongs to the first read of a body that may take an administrator away. Two that only read each other's account would both
 * commit; of two under the lock the second is refused.
 */
export const ADMINISTRATORS_LOCK = {
  from: ACCOUNTS,
  keys: [ADMINISTRATORS],
  lock: true,
} as const;

/** Throws `conflict` when nobody else could administer without this account, in a body with `ADMINISTRATORS_LOCK`. */
export async function requireOtherAdministrator(tx: Transaction, account: Account): Promise<void> {
  if (!isActiveAdministrator(account)) return;
  const keysOf = { index: "administrators", within: [[ACTIVE]], limit: 2 };
  const [active] = await tx.read({ from: ACCOUNTS, keysOf });
  if (active.length < 2) throw new AppError("conflict", LAST_ADMINISTRATOR);
}

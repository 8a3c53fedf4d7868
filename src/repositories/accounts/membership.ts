import { type Account, firstProfile } from "../../domain/reputation/accounts/account.ts";
import { attemptsOf } from "../../domain/reputation/accounts/attempts.ts";
import type { AdminRequest } from "../../domain/reputation/audit/admin-entry.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import { AppError } from "../../domain/shared/errors.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type { Row, Table } from "../../domain/sync/table/table.ts";
import type { AnyCollection, Stretch, Transaction } from "../../ports/documents.ts";
import {
  ACCOUNTS,
  CONSENTS,
  ERASED_NAMES,
  KEYS,
  SIGN_INS,
  SUBJECTS,
} from "../account-collections.ts";
import { alertsAbout } from "../alert-outbox.ts";
import type { AuditChains } from "../lookups/audit-chains.ts";
import type { PeopleTables } from "../lookups/lookup-reader.ts";
import { monthOfAccount, removeUsage } from "../lookups/usage.ts";
import { forgetRejected, LAST_REJECTED } from "../rejected-records.ts";
import { Repository } from "../repository.ts";
import { ALERTS } from "../run-collections.ts";
import { forgetRowNews } from "../runs.ts";
import { type AccountConflict, createAccount, type NameDeps, removeAccount } from "./accounts.ts";
import { ADMINISTRATORS_LOCK, requireOtherAdministrator } from "./administration.ts";

interface Enrolment {
  readonly account: Account;
  /** The `display_name` of the new profile; null leaves it empty. */
  readonly displayName: string | null;
}

interface MembershipDeps extends NameDeps {
  readonly tables: PeopleTables;
  readonly chains: AuditChains;
}

/** Signup and erasure: both change accounts and the synchronized tables in one commit. D-5.4, D-5.5. */
export class Membership extends Repository {
  readonly #deps: MembershipDeps;

  constructor(deps: MembershipDeps) {
    super(deps.documents);
    this.#deps = deps;
  }

  /**
   * Makes an account and its profile in one commit. `username_taken` when an account, a profile or a platform account of that name
   * exists, or the name was erased and is taken; `email_taken` when an account has the address in any case; nothing is written
   * then. Of two at once one wins. Throws `commit_failed`, `store_unavailable`, and `conflict` where the registry's own table of
   * profiles takes no such row.
   */
  async enrol({ account, displayName }: Enrolment): Promise<"enrolled" | AccountConflict> {
    const { tables, hmacOf } = this.#deps;
    const { profiles, platformAccounts } = tables;
    const { username } = account;
    const where = ["username", [username]] as const;
    const keys = [[hmacOf(username)]];
    const row = knownFields(profiles, firstProfile(account, displayName));
    return await this.writing("membership.enrol", async (tx) => {
      const [[erased], ...rows] = await tx.read(
        { from: ERASED_NAMES, keys },
        { rowsOf: profiles, where },
        { rowsOf: platformAccounts, where },
      );
      if (erased?.isTaken || rows.flat().length > 0) return "username_taken";
      const outcome = await createAccount(tx, this.#deps, account);
      if (outcome !== "created") return outcome;
      const { failures } = await tx.tables.write(profiles, [{ index: 0, row }]);
      const [failure] = failures;
      if (failure === undefined) return "enrolled";
      const hint = "Mend the table in the registry, or leave it out for the one that is built in";
      throw new AppError("conflict", `No profile can be made here: ${failure.message}`, { hint });
    });
  }

  /**
   * Removes everything about a person in one commit: account, sessions, keys, consents, usage, profile, platform accounts, their
   * rows in the rejected store and in what comparisons and imports told, failed sign-ins, and what connects their audit records
   * with their name. Once it has resolved, no instance answers from any of it. The name is remembered as an HMAC, with the time and
   * the calls of its month, and is taken until `Administration.release` or `Accounts.create` (D-8.2). An administrator's request
   * keeps its audit record in the same commit. `absent` when there was no account. Throws as `enrol`, and `conflict` for the last
   * administrator.
   */
  async erase(username: string, request?: AdminRequest): Promise<"erased" | "absent"> {
    const { tables: people, chains } = this.#deps;
    const tables = [people.platformAccounts, people.profiles];
    return await this.writing("membership.erase", async (tx) => {
      await tx.tables.excludePushes();
      const keys = keysOf(username);
      const [, [account], [subject]] = await tx.read(
        ADMINISTRATORS_LOCK,
        { from: ACCOUNTS, keys },
        // Locked also where there is none: a lookup that makes one at the same moment runs again.
        { from: SUBJECTS, keys, lock: true },
        { ...LAST_REJECTED, lock: true },
      );
      if (account === undefined) return "absent";
      await requireOtherAdministrator(tx, account);
      if (request !== undefined) {
        await chains.noteAct(tx, { action: "erase", actedOn: username, ...request });
      }
      await this.#remember(tx, username, subject?.id);
      await removeAccount(tx, account);
      await removeOwned(tx, username);
      const names = tables.map(({ name }) => name);
      await forgetRejected(tx, names, username);
      await forgetRowNews(tx, names);
      for (const table of tables) await tx.tables.change(table, "username", username, null);
      tx.raise([username]);
      return "erased";
    });
  }

  /** Keeps the erasure, and destroys what links the person with their records and counts. */
  async #remember(tx: Transaction, username: string, accountId: string | undefined): Promise<void> {
    const hmac = this.#deps.hmacOf(username);
    // With the calls of earlier accounts of the name (`createAccount`).
    const month = accountId === undefined ? null : await monthOfAccount(tx, accountId);
    tx.put(ERASED_NAMES, { hmac, at: formatMs(tx.nowMs), isTaken: true, month });
    if (accountId === undefined) return;
    tx.remove(SUBJECTS, [username]);
    await removeUsage(tx, accountId);
  }
}

/** Removes keys, consents, attempts and alerts of an account. */
async function removeOwned(tx: Transaction, username: string): Promise<void> {
  const { keys: counters, beginning } = attemptsOf(username);
  const owned: readonly (readonly [AnyCollection, Stretch])[] = [
    [KEYS, { within: [[username]] }],
    [CONSENTS, { within: [[username]] }],
    [SIGN_INS, { within: [...counters, beginning] }],
    [ALERTS, alertsAbout(username)],
  ];
  const found = await tx.read(...owned.map(([from, keysOf]) => ({ from, keysOf })));
  for (const [i, [from]] of owned.entries()) {
    for (const key of found[i] ?? []) tx.remove(from, key);
  }
}

/** The fields that are columns of the table. */
function knownFields(table: Table, fields: Row): Row {
  const known = table.pushColumns.filter(({ name }) => Object.hasOwn(fields, name));
  return Object.fromEntries(known.map(({ name }) => [name, fields[name] ?? null]));
}

import { firstProfile, type PersonalData } from "../../../domain/reputation/accounts/membership.ts";
import type { AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { AccountConflict } from "../../../ports/accounts/account-store.ts";
import type { Enrolment, Membership } from "../../../ports/accounts/membership.ts";
import { dropAlertsOf, forgetRejected } from "../documents/own-documents.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { createAccount, findAccount, isLastAdministrator, removeAccount } from "./account-store.ts";
import type { NoteAdminAct } from "./administration.ts";
import { USAGE_COLUMNS, usageOf } from "./call-counter.ts";
import { forgetAttempts } from "./own-documents.ts";
import type { PersonRows } from "./person-rows.ts";

const ACCOUNT_ID = "(SELECT id FROM repsync_subjects WHERE username = ?)";
const USAGE = `SELECT ${USAGE_COLUMNS} FROM repsync_usage u WHERE u.account_id = ${ACCOUNT_ID}`;
/** Statements with the username, in order: the subject goes last, as counts are found by its id. */
const ERASE: Readonly<Record<Exclude<PersonalData, "attempts">, readonly string[]>> = {
  apiKeys: ["DELETE FROM repsync_api_keys WHERE username = ?"],
  consents: ["DELETE FROM repsync_consents WHERE username = ?"],
  usage: [
    `DELETE FROM repsync_usage WHERE account_id = ${ACCOUNT_ID}`,
    `DELETE FROM repsync_calls WHERE account_id = ${ACCOUNT_ID}`,
    `DELETE FROM repsync_quota_alerts WHERE account_id = ${ACCOUNT_ID}`,
    `DELETE FROM repsync_call_history WHERE account_id = ${ACCOUNT_ID}`,
  ],
  subject: ["DELETE FROM repsync_subjects WHERE username = ?"],
};

interface MembershipParts {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly erasedNames: ErasedNames;
  readonly noteAdminAct: NoteAdminAct;
}

export class SqliteMembership implements Membership {
  readonly #database: SqliteDatabase;
  readonly #profiles: PersonRows;
  readonly #platformAccounts: PersonRows;
  readonly #erasedNames: ErasedNames;
  readonly #noteAdminAct: NoteAdminAct;

  constructor(
    database: SqliteDatabase,
    { profiles, platformAccounts, erasedNames, noteAdminAct }: MembershipParts,
  ) {
    this.#database = database;
    this.#profiles = profiles;
    this.#platformAccounts = platformAccounts;
    this.#erasedNames = erasedNames;
    this.#noteAdminAct = noteAdminAct;
  }

  async enrol({ account, displayName }: Enrolment): Promise<"enrolled" | AccountConflict> {
    const { username } = account;
    return this.#database.write(() => {
      const rows = [this.#profiles, this.#platformAccounts].map((table) => table.read(username));
      const isTaken = this.#erasedNames.find(username)?.isTaken ?? false;
      if (isTaken || rows.flat().length > 0) return "username_taken";
      const outcome = createAccount(this.#database, this.#erasedNames, account);
      if (outcome !== "created") return outcome;
      this.#profiles.insert(firstProfile(account, displayName));
      return "enrolled";
    }, [this.#profiles.tableName]);
  }

  async erase(
    username: string,
    request?: AdminRequest,
  ): Promise<"erased" | "last_administrator" | "absent"> {
    const tables = [this.#profiles.tableName, this.#platformAccounts.tableName];
    return this.#database.write(() => {
      const account = findAccount(this.#database, username);
      if (account === null) return "absent";
      if (isLastAdministrator(this.#database, account)) return "last_administrator";
      if (request !== undefined) this.#noteAdminAct({ action: "erase", username, ...request });
      removeAccount(this.#database, username);
      this.#remember(username);
      for (const sql of Object.values(ERASE).flat()) this.#database.run(sql, [username]);
      forgetAttempts(this.#database, username);
      dropAlertsOf(this.#database, username);
      forgetRejected(this.#database, tables, username);
      this.#platformAccounts.remove(username);
      this.#profiles.remove(username);
      return "erased";
    }, tables);
  }

  #remember(username: string): void {
    const [row] = this.#database.all(USAGE, [username]);
    const month = usageOf(row).month ?? this.#erasedNames.find(username)?.month ?? null;
    this.#erasedNames.keep(username, { at: formatMs(this.#database.nowMs()), month });
  }
}

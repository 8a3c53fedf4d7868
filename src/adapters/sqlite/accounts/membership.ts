import { formatMs } from "../../../domain/shared/time.ts";
import type { AccountConflict } from "../../../ports/accounts/account-store.ts";
import type { Enrolment, Membership } from "../../../ports/accounts/membership.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { createAccount, removeAccount } from "./account-store.ts";
import type { PersonRows } from "./person-rows.ts";
import type { Subjects } from "./subjects.ts";

/** What goes with an account, by its id. */
const REMOVE_BY_ID = [
  "DELETE FROM repsync_usage WHERE account_id = ?",
  "DELETE FROM repsync_calls WHERE account_id = ?",
];

/** What goes with an account, by its username. */
const REMOVE_BY_NAME = [
  "DELETE FROM repsync_api_keys WHERE username = ?",
  "DELETE FROM repsync_consents WHERE username = ?",
  "DELETE FROM repsync_subjects WHERE username = ?",
];

export class SqliteMembership implements Membership {
  readonly #database: SqliteDatabase;
  readonly #profiles: PersonRows;
  readonly #platformAccounts: PersonRows;
  readonly #subjects: Subjects;

  constructor(
    database: SqliteDatabase,
    parts: {
      readonly profiles: PersonRows;
      readonly platformAccounts: PersonRows;
      readonly subjects: Subjects;
    },
  ) {
    this.#database = database;
    this.#profiles = parts.profiles;
    this.#platformAccounts = parts.platformAccounts;
    this.#subjects = parts.subjects;
  }

  async enrol({ account, displayName }: Enrolment): Promise<"enrolled" | AccountConflict> {
    const { username } = account;
    const now = formatMs(account.createdAtMs);
    return this.#database.write(() => {
      if (this.#profiles.read(username).length > 0) return "username_taken";
      const outcome = createAccount(this.#database, account);
      if (outcome !== "created") return outcome;
      const times = { created_at: now, updated_at: now };
      this.#profiles.insert({ username, display_name: displayName, verified: false, ...times });
      return "enrolled";
    }, [this.#profiles.tableName]);
  }

  async erase(username: string): Promise<boolean> {
    const tables = [this.#profiles.tableName, this.#platformAccounts.tableName];
    return this.#database.write(() => {
      if (!removeAccount(this.#database, username)) return false;
      const accountId = this.#subjects.accountId(username);
      for (const sql of REMOVE_BY_ID) this.#database.run(sql, [accountId]);
      for (const sql of REMOVE_BY_NAME) this.#database.run(sql, [username]);
      this.#platformAccounts.remove(username);
      this.#profiles.remove(username);
      return true;
    }, tables);
  }
}

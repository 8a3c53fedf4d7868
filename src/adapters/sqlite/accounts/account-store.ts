import type { Account } from "../../../domain/reputation/accounts/account.ts";
import { emailKey } from "../../../domain/reputation/accounts/account.ts";
import { isIssuedSince } from "../../../domain/sync/people/erasure.ts";
import type {
  AccountChanges,
  AccountConflict,
  AccountStore,
  PasswordChange,
} from "../../../ports/accounts/account-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteValue } from "../driver/driver.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { noteHidden } from "../people/name-facts.ts";
import { endSessionsOf } from "./session-store.ts";

/** The accounts. `email_key` is what makes addresses unique; NULL for those without one, however many. */
export const ACCOUNT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_accounts (
    username TEXT PRIMARY KEY, email TEXT, email_key TEXT, password_hash TEXT,
    role TEXT NOT NULL, issuer TEXT NOT NULL, plan TEXT NOT NULL, calls_per_month INTEGER,
    rate_limit_per_minute INTEGER, created_at_ms INTEGER NOT NULL
  ) WITHOUT ROWID`,
  "CREATE UNIQUE INDEX IF NOT EXISTS repsync_accounts_email ON repsync_accounts (email_key)",
];

const FIND = "SELECT * FROM repsync_accounts WHERE username = ?";

const FIND_EMAIL = "SELECT 1 FROM repsync_accounts WHERE email_key = ?";

const INSERT =
  "INSERT INTO repsync_accounts (username, email, email_key, created_at_ms, password_hash, role," +
  " issuer, plan, calls_per_month, rate_limit_per_minute) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const UPDATE =
  "UPDATE repsync_accounts SET password_hash = ?, role = ?, issuer = ?, plan = ?," +
  " calls_per_month = ?, rate_limit_per_minute = ? WHERE username = ?";

const CHANGE_PASSWORD =
  "UPDATE repsync_accounts SET password_hash = ? WHERE username = ? AND (? IS NULL OR password_hash = ?)";

const REMOVE = "DELETE FROM repsync_accounts WHERE username = ?";

/** Accounts in a table. A write has the file to itself, so what it looks at stays so until its commit. */
export class SqliteAccountStore implements AccountStore {
  readonly #database: SqliteDatabase;
  readonly #erasedNames: ErasedNames;

  constructor(database: SqliteDatabase, erasedNames: ErasedNames) {
    this.#database = database;
    this.#erasedNames = erasedNames;
  }

  async create(
    account: Account,
    by?: { readonly tokenIssuedAtMs: number | null },
  ): Promise<"created" | AccountConflict | "erased_since"> {
    return this.#database.keep(() => {
      const erased = by === undefined ? null : this.#erasedNames.find(account.username);
      const isOld = erased !== null && !isIssuedSince(erased, by?.tokenIssuedAtMs ?? null);
      return isOld ? "erased_since" : createAccount(this.#database, this.#erasedNames, account);
    });
  }

  async find(username: string): Promise<Account | null> {
    return this.#database.read(() => findAccount(this.#database, username));
  }

  async update(username: string, changes: AccountChanges): Promise<Account | null> {
    return this.#database.keep(() => {
      const account = findAccount(this.#database, username);
      if (account === null) return null;
      const changed = { ...account, ...changes };
      this.#database.run(UPDATE, [...changeableValues(changed), username]);
      return changed;
    });
  }

  async changePassword(
    username: string,
    { from, to, keptSession }: PasswordChange,
  ): Promise<boolean> {
    return this.#database.keep(() => {
      if (this.#database.run(CHANGE_PASSWORD, [to, username, from, from]) === 0) return false;
      endSessionsOf(this.#database, username, keptSession);
      return true;
    });
  }

  async remove(username: string): Promise<boolean> {
    return this.#database.keep(() => removeAccount(this.#database, username));
  }
}

/** As `AccountStore.create()`, within the caller's write. */
export function createAccount(
  database: SqliteDatabase,
  erasedNames: ErasedNames,
  account: Account,
): "created" | AccountConflict {
  const { username, email, createdAtMs } = account;
  const key = email === null ? null : emailKey(email);
  if (findAccount(database, username) !== null) return "username_taken";
  if (database.all(FIND_EMAIL, [key]).length > 0) return "email_taken";
  database.run(INSERT, [username, email, key, createdAtMs, ...changeableValues(account)]);
  endSessionsOf(database, username);
  erasedNames.begin(username);
  return "created";
}

/** As `AccountStore.remove()`, within the caller's write. */
export function removeAccount(database: SqliteDatabase, username: string): boolean {
  endSessionsOf(database, username);
  noteHidden(database, username, false);
  return database.run(REMOVE, [username]) > 0;
}

/** As `AccountStore.find()`, within the caller's read or write. */
export function findAccount(database: SqliteDatabase, username: string): Account | null {
  const [row] = database.all(FIND, [username]);
  if (row === undefined) return null;
  return {
    username,
    email: row["email"] as string | null,
    passwordHash: row["password_hash"] as string | null,
    role: row["role"] as Account["role"],
    issuer: String(row["issuer"]),
    plan: row["plan"] as Account["plan"],
    callsPerMonth: row["calls_per_month"] as number | null,
    rateLimitPerMinute: row["rate_limit_per_minute"] as number | null,
    createdAtMs: Number(row["created_at_ms"]),
  };
}

/** In the order of both statements. */
function changeableValues(account: Account): SqliteValue[] {
  const { passwordHash, role, issuer, plan, callsPerMonth, rateLimitPerMinute } = account;
  return [passwordHash, role, issuer, plan, callsPerMonth, rateLimitPerMinute];
}

import {
  type Account,
  emailKey,
  isActiveAdministrator,
} from "../../../domain/reputation/accounts/account.ts";
import { isIssuedSince } from "../../../domain/sync/people/erasure.ts";
import type {
  AccountConflict,
  AccountPage,
  AccountStore,
  PasswordChange,
} from "../../../ports/accounts/account-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { noteHidden } from "../people/name-facts.ts";
import { endSessionsOf } from "./own-documents.ts";

/** The accounts. `email_key` is what makes addresses unique; NULL for those without one, however many. */
export const ACCOUNT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_accounts (
    username TEXT PRIMARY KEY, email TEXT, email_key TEXT, password_hash TEXT,
    role TEXT NOT NULL, issuer TEXT NOT NULL, plan TEXT NOT NULL, calls_per_month INTEGER,
    rate_limit_per_minute INTEGER, created_at_ms INTEGER NOT NULL, suspended_at_ms INTEGER,
    last_sign_in_at_ms INTEGER
  ) WITHOUT ROWID`,
  "CREATE UNIQUE INDEX IF NOT EXISTS repsync_accounts_email ON repsync_accounts (email_key)",
  `CREATE INDEX IF NOT EXISTS repsync_accounts_administrators ON repsync_accounts (role)
    WHERE role = 'administrator'`,
];

const FIND = "SELECT * FROM repsync_accounts WHERE username = ?";

const FIND_ADMINISTRATOR = "SELECT 1 FROM repsync_accounts WHERE role = 'administrator' LIMIT 1";

const FIND_EMAIL = "SELECT 1 FROM repsync_accounts WHERE email_key = ?";

const INSERT =
  "INSERT INTO repsync_accounts (username, email, email_key, created_at_ms, password_hash, role," +
  " issuer, plan, calls_per_month, rate_limit_per_minute) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const CHANGE_PASSWORD =
  "UPDATE repsync_accounts SET password_hash = ? WHERE username = ? AND password_hash = ?";

const NOTE_SIGN_IN = "UPDATE repsync_accounts SET last_sign_in_at_ms = ? WHERE username = ?";

/** The last name of so many after another; none when there are not that many more. */
const SLICE_END =
  "SELECT username FROM repsync_accounts WHERE username > ? ORDER BY username LIMIT 1 OFFSET ?";
const SLICE = `SELECT * FROM repsync_accounts
  WHERE username > ? AND (? IS NULL OR username <= ?) AND (? IS NULL
    OR instr(lower(username), ?) > 0 OR instr(lower(ifnull(email, '')), ?) > 0)
  ORDER BY username LIMIT ?`;
/** Accounts that one read of a list looks through. */
const SLICE_ACCOUNTS = 5_000;

const OTHER_ADMINISTRATOR = `SELECT 1 FROM repsync_accounts
  WHERE role = 'administrator' AND suspended_at_ms IS NULL AND username <> ? LIMIT 1`;

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

  async hasAdministrator(): Promise<boolean> {
    return this.#database.read(() => this.#database.all(FIND_ADMINISTRATOR).length > 0);
  }

  async find(username: string): Promise<Account | null> {
    return this.#database.read(() => findAccount(this.#database, username));
  }

  /** In slices, as a search through all accounts would hold up everything else. */
  async list({ text, limit, afterUsername }: AccountPage): Promise<readonly Account[]> {
    const found: Account[] = [];
    const wanted = text === null ? null : lowerAscii(text);
    for (let after: string | null = afterUsername ?? ""; after !== null; ) {
      const from: string = after;
      after = await this.#database.read(() => {
        const [last] = this.#database.all(SLICE_END, [from, SLICE_ACCOUNTS - 1]);
        const end = last === undefined ? null : String(last["username"]);
        const left = limit - found.length;
        const values = [from, end, end, wanted, wanted, wanted, left];
        found.push(...this.#database.all(SLICE, values).map(accountOf));
        return found.length === limit ? null : end;
      });
    }
    return found;
  }

  async noteSignIn(username: string, nowMs: number): Promise<void> {
    await this.#database.keep(() => this.#database.run(NOTE_SIGN_IN, [nowMs, username]));
  }

  async changePassword(
    username: string,
    { from, to, keptSession }: PasswordChange,
  ): Promise<boolean> {
    return this.#database.keep(() => {
      if (this.#database.run(CHANGE_PASSWORD, [to, username, from]) === 0) return false;
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
  const { passwordHash, role, issuer, plan, callsPerMonth, rateLimitPerMinute } = account;
  const values = [passwordHash, role, issuer, plan, callsPerMonth, rateLimitPerMinute];
  database.run(INSERT, [username, email, key, createdAtMs, ...values]);
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
  return row === undefined ? null : accountOf(row);
}

/** Whether nobody else could administer without this account, within the caller's write. */
export function isLastAdministrator(database: SqliteDatabase, account: Account): boolean {
  if (!isActiveAdministrator(account)) return false;
  return database.all(OTHER_ADMINISTRATOR, [account.username]).length === 0;
}

function accountOf(row: SqliteRow): Account {
  return {
    username: String(row["username"]),
    email: row["email"] as string | null,
    passwordHash: row["password_hash"] as string | null,
    role: row["role"] as Account["role"],
    issuer: String(row["issuer"]),
    plan: row["plan"] as Account["plan"],
    callsPerMonth: row["calls_per_month"] as number | null,
    rateLimitPerMinute: row["rate_limit_per_minute"] as number | null,
    createdAtMs: Number(row["created_at_ms"]),
    suspendedAtMs: row["suspended_at_ms"] as number | null,
    lastSignInAtMs: row["last_sign_in_at_ms"] as number | null,
  };
}

/** As `lower()` of SQLite, which knows the case of ASCII only. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

import type { ErasedName } from "../../../domain/reputation/accounts/membership.ts";
import type { MonthUsage } from "../../../domain/reputation/accounts/quota.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** The names that were erased, as HMACs. */
export const ERASED_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_erased_names (
    name_hmac TEXT PRIMARY KEY, erased_at TEXT NOT NULL, is_taken INTEGER NOT NULL,
    month TEXT, month_calls INTEGER NOT NULL
  ) WITHOUT ROWID`,
];

const IS_ANY = "SELECT 1 FROM repsync_erased_names LIMIT 1";
const FIND = "SELECT * FROM repsync_erased_names WHERE name_hmac = ?";
const KEEP =
  "INSERT OR REPLACE INTO repsync_erased_names" +
  " (name_hmac, erased_at, is_taken, month, month_calls) VALUES (?, ?, 1, ?, ?)";
const RELEASE = "UPDATE repsync_erased_names SET is_taken = 0 WHERE name_hmac = ? AND is_taken = 1";

/** What the reputation half brings. */
interface NameTools {
  /** The HMAC that stands for a name. */
  readonly hmacOf: (username: string) => string;
  /** Lets calls of the month count for an account, within the caller's write. */
  readonly keepCalls: (username: string, month: MonthUsage) => void;
}

/** All methods but `open` are for use within a read or a write. */
export class ErasedNames {
  readonly #database: SqliteDatabase;
  #tools: NameTools | null = null;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Until then no name may have been erased. */
  open(tools: NameTools): void {
    this.#tools = tools;
  }

  find(username: string): ErasedName | null {
    if (this.#database.all(IS_ANY).length === 0) return null;
    const [row] = this.#database.all(FIND, [this.#hmacOf(username)]);
    if (row === undefined) return null;
    const month = row["month"];
    return {
      at: String(row["erased_at"]),
      isTaken: row["is_taken"] === 1,
      month: typeof month === "string" ? { month, used: Number(row["month_calls"]) } : null,
    };
  }

  /** Remembers an erasure; the name is taken. */
  keep(username: string, { at, month }: Omit<ErasedName, "isTaken">): void {
    const { month: name = null, used = 0 } = month ?? {};
    this.#database.run(KEEP, [this.#hmacOf(username), at, name, used]);
  }

  /** False when the name was not taken. */
  release(username: string): boolean {
    return this.#database.run(RELEASE, [this.#hmacOf(username)]) > 0;
  }

  /** A new person has the name. */
  begin(username: string): void {
    const erased = this.find(username);
    if (erased === null) return;
    this.release(username);
    if (erased.month !== null) this.#open().keepCalls(username, erased.month);
  }

  #hmacOf(username: string): string {
    return this.#open().hmacOf(username);
  }

  #open(): NameTools {
    if (this.#tools === null) throw new Error("Erased names cannot be told before they are opened");
    return this.#tools;
  }
}

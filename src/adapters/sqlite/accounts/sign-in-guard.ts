import { attemptsOf } from "../../../domain/reputation/accounts/attempt-names.ts";
import type { AttemptCounter, SignInGuard } from "../../../ports/accounts/sign-in-guard.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** A row per event. */
export const ATTEMPT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_attempts (
    name TEXT NOT NULL, at_ms INTEGER NOT NULL, ends_at_ms INTEGER NOT NULL
  )`,
  "CREATE INDEX IF NOT EXISTS repsync_attempts_name ON repsync_attempts (name, at_ms)",
  "CREATE INDEX IF NOT EXISTS repsync_attempts_end ON repsync_attempts (ends_at_ms)",
];

/** The event that has to leave the window before another may come: the newest but `limit` - 1. */
const LIMITING_EVENT =
  "SELECT at_ms FROM repsync_attempts WHERE name = ? AND at_ms > ? AND at_ms < ?" +
  " ORDER BY at_ms DESC LIMIT 1 OFFSET ?";

const COUNT = "INSERT INTO repsync_attempts (name, at_ms, ends_at_ms) VALUES (?, ?, ?)";
const DROP_ENDED = "DELETE FROM repsync_attempts WHERE ends_at_ms <= ?";

const FORGET = "DELETE FROM repsync_attempts WHERE name = ?";
const FORGET_RANGE = "DELETE FROM repsync_attempts WHERE name > ? AND name < ?";
/** Comes after every text that continues what stands before it. */
const LAST_CHARACTER = "\u{10ffff}";

/** Removes what is counted of an account, in the caller's commit. */
export function forgetAttempts(database: SqliteDatabase, username: string): void {
  const { names, prefix } = attemptsOf(username);
  for (const name of names) database.run(FORGET, [name]);
  database.run(FORGET_RANGE, [prefix, prefix + LAST_CHARACTER]);
}

/** Failed sign-ins and signups in a table, counted where they are noted. */
export class SqliteSignInGuard implements SignInGuard {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async retryAfterSeconds(counters: readonly AttemptCounter[]): Promise<number | null> {
    return this.#database.read(() => this.#longestWait(counters));
  }

  async count(counters: readonly AttemptCounter[]): Promise<number | null> {
    return this.#database.keep(() => {
      const seconds = this.#longestWait(counters);
      if (seconds !== null) return seconds;
      for (const { name, nowMs, windowMs } of counters) {
        this.#database.run(DROP_ENDED, [nowMs]);
        this.#database.run(COUNT, [name, nowMs, nowMs + windowMs]);
      }
      return null;
    });
  }

  #longestWait(counters: readonly AttemptCounter[]): number | null {
    const waits = counters.map((counter) => this.#waitMs(counter)).filter((ms) => ms !== null);
    return waits.length === 0 ? null : Math.ceil(Math.max(...waits) / 1000);
  }

  #waitMs({ name, limit, windowMs, nowMs }: AttemptCounter): number | null {
    const values = [name, nowMs - windowMs, nowMs + windowMs, limit - 1];
    const [event] = this.#database.all(LIMITING_EVENT, values);
    return event === undefined ? null : Number(event["at_ms"]) + windowMs - nowMs;
  }
}

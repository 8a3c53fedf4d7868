import type { Session, SessionStore } from "../../../ports/accounts/session-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** The sessions, found by id, by account and by end. */
export const SESSION_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_sessions (
    id TEXT PRIMARY KEY, username TEXT NOT NULL, expires_at_ms INTEGER NOT NULL
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS repsync_sessions_username ON repsync_sessions (username)",
  "CREATE INDEX IF NOT EXISTS repsync_sessions_end ON repsync_sessions (expires_at_ms)",
];

const DROP_EXPIRED = "DELETE FROM repsync_sessions WHERE expires_at_ms <= ?";
const BEGIN =
  "INSERT OR REPLACE INTO repsync_sessions (id, username, expires_at_ms) VALUES (?, ?, ?)";
const IS_KNOWN =
  "SELECT 1 FROM repsync_sessions WHERE id = ? AND username = ? AND expires_at_ms > ?";
const EXTEND =
  "UPDATE repsync_sessions SET expires_at_ms = max(expires_at_ms, ?) WHERE id = ? AND expires_at_ms > ?";
const END = "DELETE FROM repsync_sessions WHERE id = ?";
const END_ALL = "DELETE FROM repsync_sessions WHERE username = ? AND id IS NOT ?";

/** Sessions in a table. Every question reads the file, so it sees what any process ended. */
export class SqliteSessionStore implements SessionStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async begin(session: Session): Promise<void> {
    const database = this.#database;
    await database.keep(() => {
      database.run(DROP_EXPIRED, [database.nowMs()]);
      database.run(BEGIN, [session.id, session.username, session.expiresAtMs]);
    });
  }

  async isKnown(id: string, username: string): Promise<boolean> {
    const database = this.#database;
    return database.read(() => database.all(IS_KNOWN, [id, username, database.nowMs()]).length > 0);
  }

  async extend(id: string, expiresAtMs: number): Promise<boolean> {
    const database = this.#database;
    return database.keep(() => database.run(EXTEND, [expiresAtMs, id, database.nowMs()]) > 0);
  }

  async end(id: string): Promise<void> {
    await this.#database.keep(() => this.#database.run(END, [id]));
  }

  async endAllOf(username: string): Promise<void> {
    await this.#database.keep(() => endSessionsOf(this.#database, username));
  }
}

/** Ends the sessions of an account but one, or all of them, within the caller's transaction. */
export function endSessionsOf(
  database: SqliteDatabase,
  username: string,
  keptId: string | null = null,
): void {
  database.run(END_ALL, [username, keptId]);
}

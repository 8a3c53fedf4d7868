import {
  type Consent,
  type ConsentEnd,
  type ConsentGrant,
  type ConsentPurpose,
  forgottenConsents,
  matchesFilter,
  planGrant,
  revokeConsent,
} from "../../../domain/reputation/accounts/consent.ts";
import { lastOver } from "../../../domain/reputation/accounts/expiry.ts";
import type { Revocation } from "../../../ports/accounts/api-key-store.ts";
import type { ConsentQuery, ConsentStore } from "../../../ports/accounts/consent-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";
import { findAccount } from "./account-store.ts";

export const CONSENT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_consents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL, purpose TEXT NOT NULL,
    granted_at TEXT NOT NULL, expires_at TEXT, ended_as TEXT, ended_at TEXT
  )`,
  "CREATE INDEX IF NOT EXISTS repsync_consents_of ON repsync_consents (username, id)",
  `CREATE INDEX IF NOT EXISTS repsync_consents_open
    ON repsync_consents (username, coalesce(expires_at, '~')) WHERE ended_as IS NULL`,
];

const COLUMNS = "id, username, purpose, granted_at, expires_at, ended_as, ended_at";
/** Not ended; among them some that have just expired. */
const OPEN = `SELECT ${COLUMNS} FROM repsync_consents
  WHERE username = ? AND ended_as IS NULL AND coalesce(expires_at, '~') > ?`;
const PART = `SELECT ${COLUMNS} FROM repsync_consents
  WHERE username = ? AND id < ? ORDER BY id DESC LIMIT ?`;
const ONE = `SELECT ${COLUMNS} FROM repsync_consents WHERE username = ? AND id = ?`;
const INSERT = `INSERT INTO repsync_consents (username, purpose, granted_at, expires_at)
  VALUES (?, ?, ?, ?) RETURNING id`;
const ALL = `SELECT ${COLUMNS} FROM repsync_consents WHERE username = ? ORDER BY id`;
const FORGET = "DELETE FROM repsync_consents WHERE id IN (SELECT value FROM json_each(?))";
const END = "UPDATE repsync_consents SET ended_as = ?, ended_at = ? WHERE id = ?";

export class SqliteConsentStore implements ConsentStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async grant(username: string, grant: ConsentGrant): Promise<Consent | null> {
    return this.#database.keep(() => {
      if (findAccount(this.#database, username) === null) return null;
      const open = readOpenConsents(this.#database, username, grant.nowMs);
      const { superseded, granted } = planGrant(username, open, grant);
      for (const ended of superseded) this.#keepEnd(ended);
      this.#forget(username, grant.nowMs);
      const { purpose, grantedAt, expiresAt } = granted;
      const [row] = this.#database.all(INSERT, [username, purpose, grantedAt, expiresAt]);
      return { id: Number(row?.["id"]), ...granted };
    });
  }

  async revoke(username: string, { id, nowMs }: Revocation<number>): Promise<Consent | null> {
    return this.#database.keep(() => {
      const [row] = this.#database.all(ONE, [username, id]);
      if (row === undefined) return null;
      const consent = consentOf(row);
      const revoked = revokeConsent(consent, nowMs);
      if (revoked !== consent) this.#keepEnd(revoked);
      this.#forget(username, nowMs);
      return revoked;
    });
  }

  async list(username: string, query: ConsentQuery): Promise<readonly Consent[]> {
    return this.#database.read(() => {
      const found: Consent[] = [];
      let beforeId = query.beforeId ?? Number.MAX_SAFE_INTEGER;
      for (;;) {
        const rows = this.#database.all(PART, [username, beforeId, query.limit]);
        for (const consent of rows.map(consentOf)) {
          beforeId = consent.id;
          if (matchesFilter(consent, query.filter, query.nowMs)) found.push(consent);
          if (found.length === query.limit) return found;
        }
        if (rows.length < query.limit) return found;
      }
    });
  }

  /** What has been ended for long. */
  #forget(username: string, nowMs: number): void {
    const all = this.#database.all(ALL, [username]).map(consentOf);
    const forgotten = forgottenConsents(all, nowMs);
    if (forgotten.length > 0) this.#database.run(FORGET, [JSON.stringify(forgotten)]);
  }

  #keepEnd({ id, ended }: Consent): void {
    this.#database.run(END, [ended?.as ?? null, ended?.at ?? null, id]);
  }
}

/** The consents of a person that are active, and perhaps some that have just expired, within a read or a write. */
export function readOpenConsents(
  database: SqliteDatabase,
  username: string,
  nowMs: number,
): Consent[] {
  return database.all(OPEN, [username, lastOver(nowMs)]).map(consentOf);
}

function consentOf(row: SqliteRow): Consent {
  const endedAs = row["ended_as"] as ConsentEnd["as"] | null;
  return {
    id: Number(row["id"]),
    username: String(row["username"]),
    purpose: row["purpose"] as ConsentPurpose,
    grantedAt: String(row["granted_at"]),
    expiresAt: row["expires_at"] as string | null,
    ended: endedAs === null ? null : { as: endedAs, at: String(row["ended_at"]) },
  };
}

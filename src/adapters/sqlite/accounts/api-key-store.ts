import type { Alert, MakeAlert } from "../../../domain/alerts/alert.ts";
import {
  revocationAlert,
  rotationAlert,
} from "../../../domain/reputation/accounts/account-alerts.ts";
import {
  boundKeys,
  type KeyRotation,
  planRotation,
  revokedKey,
  type StoredApiKey,
} from "../../../domain/reputation/accounts/api-key.ts";
import type { ApiKeyStore, KeyPage, Revocation } from "../../../ports/accounts/api-key-store.ts";
import { addAlerts } from "../documents/own-documents.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";
import { findAccount } from "./account-store.ts";

/** The API keys of all accounts, `n` in the order of their making. */
export const API_KEY_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_api_keys (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, username TEXT NOT NULL, name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, last4 TEXT NOT NULL, created_at TEXT NOT NULL,
    expires_at TEXT, revoked_at TEXT, is_revoked INTEGER NOT NULL
  )`,
  "CREATE INDEX IF NOT EXISTS repsync_api_keys_of ON repsync_api_keys (username, n)",
];

const COLUMNS =
  "id, username, name, hash, prefix, last4, created_at, expires_at, revoked_at, is_revoked";
const INSERT = `INSERT INTO repsync_api_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ONE = `SELECT ${COLUMNS} FROM repsync_api_keys WHERE username = ? AND id = ?`;
const NEWEST = `SELECT ${COLUMNS} FROM repsync_api_keys WHERE username = ? ORDER BY n DESC LIMIT ?`;
const OLDER = `SELECT ${COLUMNS} FROM repsync_api_keys WHERE username = ?
  AND n < (SELECT n FROM repsync_api_keys WHERE username = ? AND id = ?) ORDER BY n DESC LIMIT ?`;
const ALL = `SELECT ${COLUMNS} FROM repsync_api_keys WHERE username = ? ORDER BY n`;
const FORGET = "DELETE FROM repsync_api_keys WHERE id IN (SELECT value FROM json_each(?))";
const END = "UPDATE repsync_api_keys SET revoked_at = ?, is_revoked = ? WHERE id = ?";

export class SqliteApiKeyStore implements ApiKeyStore {
  readonly #database: SqliteDatabase;
  readonly #makeAlert: MakeAlert | null;

  constructor(database: SqliteDatabase, makeAlert: MakeAlert | null) {
    this.#database = database;
    this.#makeAlert = makeAlert;
  }

  async create(key: StoredApiKey, nowMs: number): Promise<"created" | "full" | "no_account"> {
    return this.#database.keep(() => {
      if (findAccount(this.#database, key.username) === null) return "no_account";
      if (this.#bound(key.username, nowMs).isFull) return "full";
      this.#insert(key);
      return "created";
    });
  }

  async list(username: string, { limit, beforeId }: KeyPage): Promise<readonly StoredApiKey[]> {
    return this.#database.read(() => {
      const rows =
        beforeId === null
          ? this.#database.all(NEWEST, [username, limit])
          : this.#database.all(OLDER, [username, username, beforeId, limit]);
      return rows.map(storedKeyOf);
    });
  }

  async revoke(username: string, { id, nowMs }: Revocation<string>): Promise<StoredApiKey | null> {
    return this.#database.keep(() => {
      const key = this.#find(username, id);
      if (key === null) return null;
      const revoked = revokedKey(key, nowMs);
      if (revoked !== key) this.#end(revoked);
      this.#bound(username, nowMs);
      this.#tell(revocationAlert(key, nowMs));
      return revoked;
    });
  }

  async rotate(username: string, rotation: KeyRotation): Promise<StoredApiKey | "conflict" | null> {
    return this.#database.keep(() => {
      const key = this.#find(username, rotation.id);
      if (key === null) return null;
      const plan = planRotation(key, rotation);
      if (plan === null) return "conflict";
      this.#end(plan.old);
      this.#insert(plan.successor);
      this.#bound(username, rotation.nowMs);
      this.#tell(rotationAlert(key));
      return plan.successor;
    });
  }

  #find(username: string, id: string): StoredApiKey | null {
    const [row] = this.#database.all(ONE, [username, id]);
    return row === undefined ? null : storedKeyOf(row);
  }

  #end(key: StoredApiKey): void {
    this.#database.run(END, [key.revokedAt, Number(key.isRevoked), key.id]);
  }

  /** Forgets what has been ended for long. */
  #bound(username: string, nowMs: number): { readonly isFull: boolean } {
    const { isFull, forgotten } = boundKeys(
      this.#database.all(ALL, [username]).map(storedKeyOf),
      nowMs,
    );
    if (forgotten.length > 0) this.#database.run(FORGET, [JSON.stringify(forgotten)]);
    return { isFull };
  }

  #tell(alert: Alert | null): void {
    const makeAlert = this.#makeAlert;
    if (alert !== null && makeAlert !== null) addAlerts(this.#database, [makeAlert(alert)]);
  }

  #insert(key: StoredApiKey): void {
    const { id, username, name, hash, prefix, last4 } = key;
    const times = [key.createdAt, key.expiresAt, key.revokedAt, Number(key.isRevoked)];
    this.#database.run(INSERT, [id, username, name, hash, prefix, last4, ...times]);
  }
}

export function storedKeyOf(row: SqliteRow): StoredApiKey {
  return {
    id: String(row["id"]),
    username: String(row["username"]),
    name: String(row["name"]),
    hash: String(row["hash"]),
    prefix: String(row["prefix"]),
    last4: String(row["last4"]),
    createdAt: String(row["created_at"]),
    expiresAt: row["expires_at"] as string | null,
    revokedAt: row["revoked_at"] as string | null,
    isRevoked: row["is_revoked"] === 1,
  };
}

// The pseudonyms of the audit: an id for callers, an HMAC for looked-up people.
import { actedOnText } from "../../../domain/reputation/audit/admin-entry.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** Connects a person with their audit records; erased with the person. */
export const SUBJECT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_subjects (
    username TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL
  ) WITHOUT ROWID`,
];

const FIND = "SELECT id, key FROM repsync_subjects WHERE username = ?";
const INSERT = "INSERT INTO repsync_subjects (username, id, key) VALUES (?, ?, ?)";
const ID_BYTES = 8;
const KEY_BYTES = 32;

/** All methods are for use within a read or a write. */
export class Subjects {
  readonly #database: SqliteDatabase;
  readonly #mac: Mac;
  readonly #auditKey: Uint8Array;

  constructor(database: SqliteDatabase, mac: Mac, auditKey: Uint8Array) {
    this.#database = database;
    this.#mac = mac;
    this.#auditKey = auditKey;
  }

  /** The id of an account; made when it has none yet, which needs a write. */
  makeAccountId(username: string): string {
    return this.#findOrMake(username).id;
  }

  /** The id of an account; null when it has none. */
  accountId(username: string): string | null {
    return this.#find(username)?.id ?? null;
  }

  /** The HMAC of a person who can be found; makes their key when there is none yet, which needs a write. */
  makeHmac(username: string): string {
    return this.#hmacWith(this.#findOrMake(username).key, username);
  }

  /** The HMAC of a person with a key of their own; null without one. */
  hmac(username: string): string | null {
    const found = this.#find(username);
    return found === null ? null : this.#hmacWith(found.key, username);
  }

  /** The HMAC of a name without a public profile: no key is kept for it. */
  hmacOfAbsent(username: string): string {
    return this.#mac.hmacHex(this.#auditKey, `repsync.audit.nobody.v1\n${username}`);
  }

  /** The HMAC of whom an administrator did something to, by their own key where they have one. */
  hmacOfActedOn(username: string): string {
    const found = this.#find(username);
    const key = found === null ? this.#auditKey : Uint8Array.fromHex(found.key);
    return this.#mac.hmacHex(key, actedOnText(username));
  }

  /** All HMACs that may stand for a name in the log: with and without a key of its own, looked up or acted on. */
  everyHmac(username: string): readonly string[] {
    const own = this.hmac(username);
    return [
      ...(own === null ? [] : [own, this.hmacOfActedOn(username)]),
      this.hmacOfAbsent(username),
      this.#mac.hmacHex(this.#auditKey, actedOnText(username)),
    ];
  }

  #find(username: string): { id: string; key: string } | null {
    const [row] = this.#database.all(FIND, [username]);
    return row === undefined ? null : { id: String(row["id"]), key: String(row["key"]) };
  }

  #findOrMake(username: string): { id: string; key: string } {
    const found = this.#find(username);
    if (found !== null) return found;
    const made = { id: this.#randomHex(ID_BYTES), key: this.#randomHex(KEY_BYTES) };
    this.#database.run(INSERT, [username, made.id, made.key]);
    return made;
  }

  #hmacWith(keyHex: string, username: string): string {
    return this.#mac.hmacHex(Uint8Array.fromHex(keyHex), username);
  }

  #randomHex(bytes: number): string {
    return this.#mac.randomBytes(bytes).toHex();
  }
}

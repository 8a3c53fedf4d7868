// Documents of repositories that commits of accounts and lookups change, until these are repositories too.
import { attemptsOf } from "../../../domain/reputation/accounts/attempts.ts";
import type { Key } from "../../../domain/shared/document-key.ts";
import { AFTER_PARTS, keyBytes } from "../documents/key-bytes.ts";
import type { SqliteDatabase } from "../driver/database.ts";

const FIRST_LOOKUP = { name: "first_lookup", secret: "answered" };

const FIND_SECRET = "SELECT 1 FROM repsync_secrets WHERE key = ?";
const KEEP_SECRET =
  "INSERT INTO repsync_secrets (key, doc) VALUES (?, ?) ON CONFLICT (key) DO NOTHING";
const END_SESSIONS = "DELETE FROM repsync_sessions WHERE key > ? AND key < ? AND key <> ?";
const FORGET_ATTEMPTS = "DELETE FROM repsync_sign_ins WHERE key >= ? AND key < ?";

/** Within a read. */
export function hadFirstLookup(database: SqliteDatabase): boolean {
  return database.all(FIND_SECRET, [keyBytes([FIRST_LOOKUP.name])]).length > 0;
}

/** Within a write. */
export function noteFirstLookup(database: SqliteDatabase): void {
  const key = keyBytes([FIRST_LOOKUP.name]);
  database.run(KEEP_SECRET, [key, JSON.stringify(FIRST_LOOKUP)]);
}

/** Ends the sessions of an account but one, or all of them, within the caller's write. */
export function endSessionsOf(
  database: SqliteDatabase,
  username: string,
  keptId: string | null = null,
): void {
  const kept = keyBytes([username, keptId ?? ""]);
  database.run(END_SESSIONS, [...rangeOf([username]), kept]);
}

/** Removes what is counted of an account, in the caller's commit. */
export function forgetAttempts(database: SqliteDatabase, username: string): void {
  const { keys, beginning } = attemptsOf(username);
  for (const key of [...keys, beginning]) database.run(FORGET_ATTEMPTS, rangeOf(key));
}

/** All keys that begin with these parts. */
function rangeOf(parts: Key): [Uint8Array, Uint8Array] {
  const first = keyBytes(parts);
  return [first, Uint8Array.from([...first, AFTER_PARTS])];
}

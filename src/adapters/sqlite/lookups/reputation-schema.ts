// Tables of the reputation half, and the triggers that count what changes in the tables its answers are made from.
import { AUDIT_PART_TABLES } from "../audit/audit-parts.ts";
import type { SqliteDatabase } from "../driver/database.ts";

const TABLES = [
  // What connects a person with their audit records; gone with the person.
  `CREATE TABLE IF NOT EXISTS repsync_subjects (
    username TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_api_keys (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, username TEXT NOT NULL, name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, last4 TEXT NOT NULL, created_at TEXT NOT NULL,
    expires_at TEXT, revoked_at TEXT, is_revoked INTEGER NOT NULL
  )`,
  "CREATE INDEX IF NOT EXISTS repsync_api_keys_of ON repsync_api_keys (username, n)",
  `CREATE TABLE IF NOT EXISTS repsync_consents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL, purpose TEXT NOT NULL,
    granted_at TEXT NOT NULL, expires_at TEXT, ended_as TEXT, ended_at TEXT
  )`,
  "CREATE INDEX IF NOT EXISTS repsync_consents_of ON repsync_consents (username, id)",
  `CREATE INDEX IF NOT EXISTS repsync_consents_open
    ON repsync_consents (username, coalesce(expires_at, '~')) WHERE ended_as IS NULL`,
  `CREATE TABLE IF NOT EXISTS repsync_usage (
    account_id TEXT PRIMARY KEY, minute_calls INTEGER NOT NULL, oldest_ms INTEGER,
    newest_ms INTEGER, month TEXT NOT NULL, month_calls INTEGER NOT NULL
  ) WITHOUT ROWID`,
  // The calls of the last minute, those of one millisecond together.
  `CREATE TABLE IF NOT EXISTS repsync_calls (
    account_id TEXT, at_ms INTEGER, calls INTEGER NOT NULL, PRIMARY KEY (account_id, at_ms)
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_audit (
    chain_id TEXT, seq INTEGER, version INTEGER, at TEXT, request_id TEXT, account_id TEXT,
    key_id TEXT, endpoint TEXT, purpose TEXT, subject_hmac TEXT, consent_id INTEGER, decision TEXT,
    code TEXT, status INTEGER, previous_hash TEXT, hash TEXT, PRIMARY KEY (chain_id, seq)
  ) WITHOUT ROWID`,
  ...AUDIT_PART_TABLES,
  `CREATE TABLE IF NOT EXISTS repsync_audit_heads (
    chain_id TEXT PRIMARY KEY, chain_number INTEGER NOT NULL UNIQUE, seq INTEGER NOT NULL,
    hash TEXT NOT NULL, at TEXT NOT NULL, signature TEXT NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_audit_anchors (
    chain_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL, at TEXT NOT NULL,
    signature TEXT NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_audit_census (
    one INTEGER PRIMARY KEY CHECK (one = 1), chains INTEGER NOT NULL, signature TEXT NOT NULL
  )`,
  // How often what lookups are decided by has changed: people and their consents, callers and their keys.
  `CREATE TABLE IF NOT EXISTS repsync_changes (
    one INTEGER PRIMARY KEY CHECK (one = 1), people INTEGER NOT NULL, callers INTEGER NOT NULL
  )`,
  "INSERT INTO repsync_changes (one, people, callers) VALUES (1, 0, 0) ON CONFLICT DO NOTHING",
];

/** Columns of `repsync_changes` that a change of a table counts in. */
const COUNTED_IN: Readonly<Record<string, readonly ("people" | "callers")[]>> = {
  repsync_consents: ["people"],
  repsync_subjects: ["people", "callers"],
  repsync_api_keys: ["callers"],
  repsync_accounts: ["callers"],
};

/** Names of the synchronized tables that lookups read. */
export interface PeopleTables {
  readonly profiles: string;
  readonly platformAccounts: string;
}

/**
 * Makes what is missing, within a write, after the synchronized tables were prepared. Triggers are made anew, as they go
 * with a table that is made anew; the counters move on, as changes may have gone by meanwhile.
 */
export function prepareReputation(database: SqliteDatabase, people: PeopleTables): void {
  for (const sql of TABLES) database.run(sql);
  const counted = {
    ...COUNTED_IN,
    [people.profiles]: ["people"],
    [people.platformAccounts]: ["people"],
  };
  for (const [table, columns] of Object.entries(counted)) {
    for (const event of ["INSERT", "UPDATE", "DELETE"]) {
      // A person's first lookup makes their subject; nothing that is remembered depends on it.
      if (table === "repsync_subjects" && event === "INSERT") continue;
      const name = `repsync_change_${table}_${event.toLowerCase()}`;
      const set = columns.map((column) => `${column} = ${column} + 1`).join(", ");
      database.run(
        `CREATE TRIGGER IF NOT EXISTS "${name}" AFTER ${event} ON "${table}"
         BEGIN UPDATE repsync_changes SET ${set}; END`,
      );
    }
  }
  database.run("UPDATE repsync_changes SET people = people + 1, callers = callers + 1");
}

/** Names the state of what lookups are decided by. Equal numbers: nothing has changed, whoever writes the file. */
export interface ChangeCounts {
  readonly people: number;
  readonly callers: number;
}

/** The counters, within a read or a write. */
export function readChanges(database: SqliteDatabase): ChangeCounts {
  const [row] = database.all("SELECT people, callers FROM repsync_changes");
  return { people: Number(row?.["people"]), callers: Number(row?.["callers"]) };
}

// What is shown of an account's calls: one row, written with each batch. D-8.11.
import {
  type AccountUse,
  type CallHistory,
  NO_HISTORY,
  withUse,
} from "../../../domain/reputation/accounts/call-history.ts";
import type { SqliteDatabase } from "../driver/database.ts";

export const HISTORY_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_call_history (
    account_id TEXT PRIMARY KEY, days TEXT NOT NULL, keys TEXT NOT NULL
  ) WITHOUT ROWID`,
];

const READ = "SELECT days, keys FROM repsync_call_history WHERE account_id = ?";
const KEEP = `INSERT INTO repsync_call_history (account_id, days, keys) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET days = excluded.days, keys = excluded.keys`;

/** Within a read or a write. */
export function readHistory(database: SqliteDatabase, accountId: string): CallHistory {
  const [row] = database.all(READ, [accountId]);
  return row === undefined ? NO_HISTORY : { days: String(row["days"]), keys: String(row["keys"]) };
}

/** Notes answered calls, within the write that decided them. */
export function noteUse(database: SqliteDatabase, use: AccountUse, nowMs: number): void {
  const { days, keys } = withUse(readHistory(database, use.accountId), use, nowMs);
  database.run(KEEP, [use.accountId, days, keys]);
}

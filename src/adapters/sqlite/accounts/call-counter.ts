// Counts calls per account: a row for the sums, and one per millisecond of the last minute that had calls. D-6.4.
import {
  chargeCalls,
  type MeterCharge,
  type MeterReading,
} from "../../../domain/reputation/accounts/call-meter.ts";
import type { EffectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import type { MonthUsage } from "../../../domain/reputation/accounts/quota.ts";
import { MINUTE_WINDOW_MS } from "../../../domain/shared/limits.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";

export const CALL_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_usage (
    account_id TEXT PRIMARY KEY, minute_calls INTEGER NOT NULL, oldest_ms INTEGER,
    newest_ms INTEGER, month TEXT NOT NULL, month_calls INTEGER NOT NULL
  ) WITHOUT ROWID`,
  // Steps of quotas that were told.
  `CREATE TABLE IF NOT EXISTS repsync_quota_alerts (
    account_id TEXT, month TEXT, type TEXT, PRIMARY KEY (account_id, month, type)
  ) WITHOUT ROWID`,
  // Calls of the last minute, one row per millisecond.
  `CREATE TABLE IF NOT EXISTS repsync_calls (
    account_id TEXT, at_ms INTEGER, calls INTEGER NOT NULL, PRIMARY KEY (account_id, at_ms)
  ) WITHOUT ROWID`,
];

/** Columns of the row of sums, named `u`, as `usageOf` reads them. */
export const USAGE_COLUMNS = "u.minute_calls, u.oldest_ms, u.newest_ms, u.month, u.month_calls";

const USAGE = `SELECT ${USAGE_COLUMNS} FROM repsync_usage u WHERE u.account_id = ?`;
const CALLS_AFTER = `SELECT at_ms, calls FROM repsync_calls WHERE account_id = ? AND at_ms > ?
  ORDER BY at_ms`;
const FORGET_UNTIL = `DELETE FROM repsync_calls WHERE account_id = ? AND at_ms <= ?
  RETURNING calls`;
const FORGET_AFTER = `DELETE FROM repsync_calls WHERE account_id = ? AND at_ms > ?
  RETURNING calls`;
const OLDEST = "SELECT min(at_ms) AS at_ms FROM repsync_calls WHERE account_id = ?";
const ADD = `INSERT INTO repsync_calls (account_id, at_ms, calls) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls`;
const KEEP = `INSERT INTO repsync_usage
  (account_id, minute_calls, oldest_ms, newest_ms, month, month_calls) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET minute_calls = excluded.minute_calls, oldest_ms = excluded.oldest_ms,
  newest_ms = excluded.newest_ms, month = excluded.month, month_calls = excluded.month_calls`;

const KEEP_MONTH = `INSERT INTO repsync_usage (account_id, minute_calls, month, month_calls)
  VALUES (?, 0, ?, ?) ON CONFLICT DO NOTHING`;

/** Begins the count of a new account with calls of the month, within a write. D-8.2. */
export function keepMonth(database: SqliteDatabase, accountId: string, month: MonthUsage): void {
  database.run(KEEP_MONTH, [accountId, month.month, month.used]);
}

/** The sums of an account. */
export interface Usage {
  /** Of all calls in `repsync_calls`, those that are over by now included. */
  readonly minuteCalls: number;
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
  /** Null before the first call. */
  readonly month: MeterReading["month"];
}

/** The calls of an account that ask to be counted. */
interface CallAttempt {
  readonly accountId: string;
  readonly limits: EffectiveLimits;
  /** 1 or more. */
  readonly calls: number;
  readonly nowMs: number;
}

/** The sums in a row with `USAGE_COLUMNS`, which may come from a LEFT JOIN. */
export function usageOf(row: SqliteRow | undefined): Usage {
  const month = row?.["month"];
  if (row === undefined || typeof month !== "string") {
    return { minuteCalls: 0, oldestMs: null, newestMs: null, month: null };
  }
  return {
    minuteCalls: Number(row["minute_calls"]),
    oldestMs: row["oldest_ms"] as number | null,
    newestMs: row["newest_ms"] as number | null,
    month: { month, used: Number(row["month_calls"]) },
  };
}

/** What an account has used, within a read or a write. */
export function readCalls(
  database: SqliteDatabase,
  accountId: string,
  callsPerMinute: number,
  nowMs: number,
): MeterReading {
  const { month } = usageOf(database.all(USAGE, [accountId])[0]);
  // Calls in the future, after the clock was set back, count as if made now.
  const times = database.all(CALLS_AFTER, [accountId, nowMs - MINUTE_WINDOW_MS]).map((row) => ({
    atMs: Math.min(Number(row["at_ms"]), nowMs),
    calls: Number(row["calls"]),
  }));
  const minuteCalls = times.reduce((sum, { calls }) => sum + calls, 0);
  let before = Math.max(0, minuteCalls - callsPerMinute);
  const blocking = times.find(({ calls }) => {
    before -= calls;
    return before < 0;
  });
  return { minuteCalls, blockingMs: blocking?.atMs ?? null, month };
}

/** Decides how many calls an account may make and counts them, within the write that read `usage`. */
export function countCalls(
  database: SqliteDatabase,
  usage: Usage,
  attempt: CallAttempt,
): MeterCharge {
  const { accountId, limits, nowMs } = attempt;
  const settled = settle(database, usage, attempt);
  // More calls than the limit, after it was lowered: the one that blocks has to be looked for.
  const reading =
    settled.minuteCalls > limits.callsPerMinute
      ? readCalls(database, accountId, limits.callsPerMinute, nowMs)
      : { minuteCalls: settled.minuteCalls, blockingMs: settled.oldestMs, month: settled.month };
  const charge = chargeCalls(reading, attempt);
  const { admitted, minuteCalls } = charge;
  if (admitted > 0) database.run(ADD, [accountId, nowMs, admitted]);
  if (admitted > 0 || settled !== usage || charge.month !== usage.month) {
    const addedMs = admitted > 0 ? nowMs : null;
    const times = [settled.oldestMs ?? addedMs, addedMs ?? settled.newestMs];
    const { month = "", used = 0 } = charge.month ?? {};
    database.run(KEEP, [accountId, minuteCalls, ...times, month, used]);
  }
  return charge;
}

/** Forgets calls that are over; the same object when there are none. The caller keeps the new sums. */
function settle(database: SqliteDatabase, usage: Usage, attempt: CallAttempt): Usage {
  const { accountId, nowMs } = attempt;
  const { newestMs, oldestMs } = usage;
  const endMs = nowMs - MINUTE_WINDOW_MS;
  const isAhead = newestMs !== null && newestMs > nowMs;
  if (!isAhead && (oldestMs === null || oldestMs > endMs)) return usage;
  // After the clock was set back: calls that lie in the future are moved to now.
  const moved = isAhead ? sumOf(database.all(FORGET_AFTER, [accountId, nowMs])) : 0;
  if (moved > 0) database.run(ADD, [accountId, nowMs, moved]);
  const over = sumOf(database.all(FORGET_UNTIL, [accountId, endMs]));
  const [oldest] = database.all(OLDEST, [accountId]);
  return {
    minuteCalls: usage.minuteCalls - over,
    oldestMs: oldest?.["at_ms"] as number | null,
    newestMs: Math.min(newestMs ?? nowMs, nowMs),
    month: usage.month,
  };
}

function sumOf(rows: readonly SqliteRow[]): number {
  return rows.reduce((sum, row) => sum + Number(row["calls"]), 0);
}

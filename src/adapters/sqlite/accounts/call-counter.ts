// Counts calls per account: a row for the sums, and one per millisecond of the last minute that had calls. D-6.4.

import type { MeterCharge, MeterReading } from "../../../domain/reputation/accounts/call-meter.ts";
import { monthOf as monthOfTime } from "../../../domain/reputation/accounts/quota.ts";
import { MINUTE_WINDOW_MS } from "../../../domain/shared/limits.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";

const USAGE = `SELECT minute_calls, oldest_ms, newest_ms, month, month_calls FROM repsync_usage
  WHERE account_id = ?`;
const CALLS_AFTER = `SELECT at_ms, calls FROM repsync_calls WHERE account_id = ? AND at_ms > ?
  ORDER BY at_ms`;
const OLD_CALLS = `SELECT sum(calls) AS calls FROM repsync_calls
  WHERE account_id = ? AND at_ms <= ?`;
const FORGET = "DELETE FROM repsync_calls WHERE account_id = ? AND at_ms <= ?";
const FORGET_FROM = "DELETE FROM repsync_calls WHERE account_id = ? AND at_ms >= ?";
const OLDEST = "SELECT min(at_ms) AS at_ms FROM repsync_calls WHERE account_id = ?";
const ADD = `INSERT INTO repsync_calls (account_id, at_ms, calls) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls`;
const KEEP = `INSERT INTO repsync_usage
  (account_id, minute_calls, oldest_ms, newest_ms, month, month_calls) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET minute_calls = excluded.minute_calls, oldest_ms = excluded.oldest_ms,
  newest_ms = excluded.newest_ms, month = excluded.month, month_calls = excluded.month_calls`;
const TAKE_BACK = `UPDATE repsync_calls SET calls = calls - min(calls, ?)
  WHERE account_id = ? AND at_ms = ?`;
const FORGET_EMPTY = "DELETE FROM repsync_calls WHERE account_id = ? AND calls = 0";
const RECOUNT = `UPDATE repsync_usage SET (minute_calls, oldest_ms, newest_ms) =
  (SELECT coalesce(sum(calls), 0), min(at_ms), max(at_ms) FROM repsync_calls WHERE account_id = ?),
  month_calls = month_calls - CASE month WHEN ? THEN min(month_calls, ?) ELSE 0 END
  WHERE account_id = ?`;
const SETTLE = `UPDATE repsync_usage SET minute_calls = ?, oldest_ms = ?, newest_ms = ?
  WHERE account_id = ?`;

/** Whose calls, by how many a minute, at what time. */
export interface CallsOf {
  readonly accountId: string;
  readonly callsPerMinute: number;
  readonly nowMs: number;
}

/** Calls that were counted and then could not be answered. */
export interface CallsToGiveBack {
  readonly accountId: string;
  readonly atMs: number;
  /** 1 or more. */
  readonly calls: number;
}

/** The calls of one minute, as sums. */
interface Window {
  readonly calls: number;
  readonly oldestMs: number | null;
}

/** What an account has used, without writing anything: for within a read. */
export function readCalls(database: SqliteDatabase, of: CallsOf): MeterReading {
  const [usage] = database.all(USAGE, [of.accountId]);
  // Calls in the future, after the clock was set back, count as if made now.
  const runs = database
    .all(CALLS_AFTER, [of.accountId, of.nowMs - MINUTE_WINDOW_MS])
    .map((row) => ({
      atMs: Math.min(Number(row["at_ms"]), of.nowMs),
      calls: Number(row["calls"]),
    }));
  const minuteCalls = runs.reduce((sum, { calls }) => sum + calls, 0);
  let before = Math.max(0, minuteCalls - of.callsPerMinute);
  const blocking = runs.find(({ calls }) => {
    before -= calls;
    return before < 0;
  });
  return { minuteCalls, blockingMs: blocking?.atMs ?? null, month: monthOf(usage) };
}

/** As `readCalls`, and tidies up, for within a write that goes on with `keepCalls`. */
export function settleCalls(database: SqliteDatabase, of: CallsOf): MeterReading {
  const [usage] = database.all(USAGE, [of.accountId]);
  if (usage === undefined) return { minuteCalls: 0, blockingMs: null, month: null };
  const { accountId, nowMs, callsPerMinute } = of;
  const window = settleWindow(database, usage, of);
  // More calls than the limit, after it was lowered: the one that blocks has to be looked for.
  if (window.calls > callsPerMinute)
    return readCalls(database, { accountId, nowMs, callsPerMinute });
  return { minuteCalls: window.calls, blockingMs: window.oldestMs, month: monthOf(usage) };
}

/** Keeps a charge with admitted calls. */
export function keepCalls(
  database: SqliteDatabase,
  of: CallsOf,
  { reading, charge }: { readonly reading: MeterReading; readonly charge: MeterCharge },
): void {
  const { accountId, nowMs } = of;
  const { month, minuteCalls, admitted } = charge;
  database.run(ADD, [accountId, nowMs, admitted]);
  const oldestMs = reading.blockingMs ?? nowMs;
  const kept = [minuteCalls, oldestMs, nowMs, month?.month ?? "", month?.used ?? 0];
  database.run(KEEP, [accountId, ...kept]);
}

/** Takes calls back that were counted, within a write; those that are over by now only from their month. D-5.8. */
export function giveBackCalls(database: SqliteDatabase, of: CallsToGiveBack): void {
  const { accountId, atMs, calls } = of;
  database.run(TAKE_BACK, [calls, accountId, atMs]);
  database.run(FORGET_EMPTY, [accountId]);
  database.run(RECOUNT, [accountId, monthOfTime(atMs), calls, accountId]);
}

/** Forgets calls that are over, in both tables alike. */
function settleWindow(database: SqliteDatabase, usage: SqliteRow, of: CallsOf): Window {
  const { accountId, nowMs } = of;
  const isAhead = Number(usage["newest_ms"]) > nowMs;
  if (isAhead) moveToNow(database, of);
  const calls = Number(usage["minute_calls"]);
  const oldestMs = usage["oldest_ms"] as number | null;
  const endMs = nowMs - MINUTE_WINDOW_MS;
  if (!isAhead && (oldestMs === null || oldestMs > endMs)) return { calls, oldestMs };
  const [old] = database.all(OLD_CALLS, [accountId, endMs]);
  database.run(FORGET, [accountId, endMs]);
  const [oldest] = database.all(OLDEST, [accountId]);
  const settled = {
    calls: calls - Number(old?.["calls"] ?? 0),
    oldestMs: oldest?.["at_ms"] as number | null,
  };
  const newestMs = Math.min(Number(usage["newest_ms"]), nowMs);
  database.run(SETTLE, [settled.calls, settled.oldestMs, newestMs, accountId]);
  return settled;
}

/** After the clock was set back: calls that lie in the future are moved to now. */
function moveToNow(database: SqliteDatabase, { accountId, nowMs }: CallsOf): void {
  const later = database.all(CALLS_AFTER, [accountId, nowMs]);
  const calls = later.reduce((sum, row) => sum + Number(row["calls"]), 0);
  database.run(FORGET_FROM, [accountId, nowMs + 1]);
  if (calls > 0) database.run(ADD, [accountId, nowMs, calls]);
}

function monthOf(usage: SqliteRow | undefined): MeterReading["month"] {
  if (usage === undefined) return null;
  return { month: String(usage["month"]), used: Number(usage["month_calls"]) };
}

// Calls of an account by day, and when its keys were last used. D-8.11.
import { formatMs } from "../../shared/time.ts";

/** Kept by stores as it is; both texts are empty for an account that made no call. */
export interface CallHistory {
  /** Days in ascending order, such as `2026-11-22:5:0,2026-11-23:7:2`: date, calls, those of them that were denied. */
  readonly days: string;
  /** Keys, the last used one last, such as `<id>@29390400`: the id and the minute since 1970. */
  readonly keys: string;
}

/** Calls of one account in a batch. */
export interface AccountUse {
  readonly accountId: string;
  /** Those that count against the limits, 1 or more. */
  calls: number;
  /** Those of them that were answered 403 or 404. */
  denied: number;
  readonly keyIds: Set<string>;
}

/** The calls of one day in UTC. */
export interface DayCalls {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly calls: number;
  readonly denied: number;
}

export const NO_HISTORY: CallHistory = { days: "", keys: "" };

/** Days that are kept and shown, today included. */
const KEPT_DAYS = 31;
/** Keys whose last use is kept. */
const KEPT_KEYS = 100;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Length of `YYYY-MM-DD`. */
const DATE_CHARS = 10;

/** The history with the calls of a batch at a time. */
export function withUse(history: CallHistory, use: AccountUse, nowMs: number): CallHistory {
  return { days: addCalls(history.days, use, nowMs), keys: addKeys(history.keys, use, nowMs) };
}

/** The last 31 days, the oldest first, days without calls included. */
export function callsByDay({ days }: CallHistory, nowMs: number): readonly DayCalls[] {
  const kept = new Map(readDays(days).map((day) => [day.date, day]));
  return Array.from({ length: KEPT_DAYS }, (_, n) => {
    const date = dateOf(nowMs - (KEPT_DAYS - 1 - n) * DAY_MS);
    return kept.get(date) ?? { date, calls: 0, denied: 0 };
  });
}

/** When a key was last used, to the minute; null when that is not known. */
export function lastUsedAt({ keys }: CallHistory, keyId: string): string | null {
  const found = readKeys(keys).find(([id]) => id === keyId);
  return found === undefined ? null : formatMs(Number(found[1]) * MINUTE_MS);
}

function addCalls(text: string, { calls, denied }: AccountUse, nowMs: number): string {
  const today = dateOf(nowMs);
  const oldest = dateOf(nowMs - (KEPT_DAYS - 1) * DAY_MS);
  // A day later than today is one of a clock that was wrong.
  const kept = readDays(text).filter(({ date }) => date >= oldest && date <= today);
  const last = kept.at(-1);
  const isBegun = last?.date === today;
  const before = isBegun ? last : { calls: 0, denied: 0 };
  const days = isBegun ? kept.slice(0, -1) : kept;
  const now = { date: today, calls: before.calls + calls, denied: before.denied + denied };
  return [...days, now].map((day) => `${day.date}:${day.calls}:${day.denied}`).join();
}

function addKeys(text: string, { keyIds }: AccountUse, nowMs: number): string {
  const minute = String(Math.floor(nowMs / MINUTE_MS));
  const others = readKeys(text).filter(([id]) => !keyIds.has(id));
  const used = Array.from(keyIds, (id) => [id, minute] as const);
  const kept = [...others, ...used].slice(-KEPT_KEYS);
  return kept.map(([id, at]) => `${id}@${at}`).join();
}

function readDays(text: string): readonly DayCalls[] {
  if (text === "") return [];
  return text.split(",").map((day) => {
    const [date = "", calls, denied] = day.split(":");
    return { date, calls: Number(calls), denied: Number(denied) };
  });
}

function readKeys(text: string): readonly (readonly [id: string, minute: string])[] {
  if (text === "") return [];
  return text.split(",").map((key) => {
    const [id = "", minute = "0"] = key.split("@");
    return [id, minute] as const;
  });
}

function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, DATE_CHARS);
}

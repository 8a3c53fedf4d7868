// Calls of an account by day, and when its keys were last used. D-8.11.
import { DAY_MS, formatMs, MINUTE_MS } from "../../shared/time.ts";

/** Kept by stores as it is; both texts are empty for an account that made no call. */
export interface CallHistory {
  /** Days in ascending order, such as `2026-11-22:5:0,2026-11-23:7:2`: date, calls, those of them that were denied. */
  readonly days: string;
  /** The last 100 used keys, the last used one last, such as `<id>@29390400`: id, and minute since 1970. */
  readonly keys: string;
}

export interface KeyUse {
  readonly keyId: string;
  /** Minutes since 1970. */
  readonly minute: number;
}

/** A call that counts against the limits; a denied one was answered 403 or 404. */
export interface CountedCall {
  readonly keyId: string;
  readonly decision: "allowed" | "denied";
}

interface DayCalls {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly calls: number;
  readonly denied: number;
}

export const NO_HISTORY: CallHistory = { days: "", keys: "" };

/** Days that are kept and shown, today included. */
export const KEPT_DAYS = 31;
/** Keys whose last use is kept in the history, which each batch writes. */
const KEPT_KEYS = 100;
const DATE_CHARS = "YYYY-MM-DD".length;

/** Adds the calls of a batch, 1 or more. `passed` are the last uses of keys that the history has no room for any more. */
export function withUse(
  { days, keys }: CallHistory,
  calls: readonly CountedCall[],
  nowMs: number,
): CallHistory & { readonly passed: readonly KeyUse[] } {
  const used = new Set(calls.map(({ keyId }) => keyId));
  const minute = Math.floor(nowMs / MINUTE_MS);
  const others = readKeys(keys).filter(({ keyId }) => !used.has(keyId));
  const all = [...others, ...Array.from(used, (keyId) => ({ keyId, minute }))];
  const kept = all.slice(-KEPT_KEYS).map(({ keyId, minute }) => `${keyId}@${minute}`);
  return {
    days: addCalls(days, calls, nowMs),
    keys: kept.join(),
    passed: all.slice(0, -KEPT_KEYS),
  };
}

/** The last 31 days, the oldest first, days without calls included. */
export function callsByDay({ days }: CallHistory, nowMs: number): readonly DayCalls[] {
  const kept = new Map(readDays(days).map((day) => [day.date, day]));
  return Array.from({ length: KEPT_DAYS }, (_, n) => {
    const date = dateOf(nowMs - (KEPT_DAYS - 1 - n) * DAY_MS);
    return kept.get(date) ?? { date, calls: 0, denied: 0 };
  });
}

/** Canonical times by the ids of keys, to the minute. The history counts before `passed`. */
export function lastUses(
  { keys }: CallHistory,
  passed: readonly KeyUse[],
): ReadonlyMap<string, string> {
  const uses = [...passed, ...readKeys(keys)];
  return new Map(uses.map(({ keyId, minute }) => [keyId, formatMs(minute * MINUTE_MS)]));
}

function addCalls(text: string, calls: readonly CountedCall[], nowMs: number): string {
  const denied = calls.filter(({ decision }) => decision === "denied").length;
  const today = dateOf(nowMs);
  const oldest = dateOf(nowMs - (KEPT_DAYS - 1) * DAY_MS);
  // A day later than today is one of a clock that was wrong.
  const kept = readDays(text).filter(({ date }) => date >= oldest && date <= today);
  const before = kept.at(-1)?.date === today ? kept.pop() : undefined;
  const now = `${today}:${(before?.calls ?? 0) + calls.length}:${(before?.denied ?? 0) + denied}`;
  return [...kept.map((day) => `${day.date}:${day.calls}:${day.denied}`), now].join();
}

function readDays(text: string): readonly DayCalls[] {
  return text.split(",").map((day) => {
    const [date = "", calls, denied] = day.split(":");
    return { date, calls: Number(calls), denied: Number(denied) };
  });
}

function readKeys(text: string): readonly KeyUse[] {
  if (text === "") return [];
  return text.split(",").map((key) => {
    const [keyId = "", minute] = key.split("@");
    return { keyId, minute: Number(minute) };
  });
}

function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, DATE_CHARS);
}

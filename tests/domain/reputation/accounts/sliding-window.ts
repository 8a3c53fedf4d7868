// The model that stores are compared with: a log of every call, counted exactly in any 60 seconds, and in the UTC
// calendar month. D-6.4.
//
// The window is half-open. A call at time t counts at every time from t up to, not including, t +
// window. So of the calls that start within [t, t + window) never more than the limit succeed, and
// a caller with no more than that in any such span is never refused. Refused calls do not count.
//
// All times given to one state should come from one clock. When it is set back, calls that now lie
// in the future count as if made just now: they block for one window at most, and never admit more.
// A month that lies in the future counts as this one.

import {
  type EffectiveLimits,
  type MonthUsage,
  monthOf,
  monthQuota,
  type Quota,
} from "../../../../src/domain/reputation/accounts/plan.ts";
import { MINUTE_WINDOW_MS } from "../../../../src/domain/shared/limits.ts";

/**
 * Times of the counted calls in milliseconds since 1970, ascending; no longer than the greatest
 * limit applied.
 */
export type CallLog = readonly number[];

/** What a store keeps of one account. */
export interface UsageState {
  readonly minute: CallLog;
  /** Null when the account has made no call yet. */
  readonly month: MonthUsage | null;
}

/** The outcome of one attempt. */
export interface WindowDecision {
  readonly isAllowed: boolean;
  /** The log to keep. */
  readonly log: CallLog;
  /** After this call. When refused, `resetSeconds` is when the next call can succeed, 1 or more. */
  readonly quota: Quota;
}

/** How a window limits. */
export interface WindowLimit {
  /** Calls within the window, 1 or more. */
  readonly limit: number;
  readonly windowMs: number;
  readonly nowMs: number;
}

/** Whether a call may pass, by which limit it may not, and the state to keep. */
export interface CallDecision {
  /** `quota_exceeded` also when both limits are reached: waiting a minute would not help. D-5.2. */
  readonly outcome: "allowed" | "rate_limited" | "quota_exceeded";
  readonly state: UsageState;
  readonly minute: Quota;
  readonly month: Quota;
}

/** The state of an account without calls. */
export const NO_USAGE: UsageState = { minute: [], month: null };

/** Decides one call by both limits: it counts in both or in neither. D-5.8, D-6.4. */
export function decideCall(
  state: UsageState,
  attempt: { readonly limits: EffectiveLimits; readonly nowMs: number },
): CallDecision {
  const { limits, nowMs } = attempt;
  const before = usageOf(state, attempt);
  const window = { limit: limits.callsPerMinute, windowMs: MINUTE_WINDOW_MS, nowMs };
  const minute = decideWindow(state.minute, window);
  const isMonthFull = before.month.remaining === 0;
  const now = monthOf(nowMs);
  const isLater = state.month !== null && state.month.month > now;
  if (isMonthFull || !minute.isAllowed) {
    const month = isLater ? { month: now, used: before.month.used } : state.month;
    const kept = { minute: recentCalls(state.minute, window), month };
    const outcome = isMonthFull ? "quota_exceeded" : "rate_limited";
    return { ...before, outcome, state: kept };
  }
  const month = { month: now, used: before.month.used + 1 };
  return {
    outcome: "allowed",
    state: { minute: minute.log, month },
    minute: minute.quota,
    month: monthQuota(month, limits, nowMs),
  };
}

/** Where an account stands, without making a call. D-5.5. */
export function usageOf(
  state: UsageState,
  at: { readonly limits: EffectiveLimits; readonly nowMs: number },
): { readonly minute: Quota; readonly month: Quota } {
  const window = { limit: at.limits.callsPerMinute, windowMs: MINUTE_WINDOW_MS, nowMs: at.nowMs };
  return {
    minute: windowQuota(recentCalls(state.minute, window), window),
    month: monthQuota(state.month, at.limits, at.nowMs),
  };
}

/**
 * Takes back a call that was counted at `atMs` and then failed on our side (5xx, D-5.8). Nothing
 * happens when it is no longer counted; a month that has ended since stays as it was.
 */
export function releaseCall(state: UsageState, atMs: number): UsageState {
  const at = state.minute.lastIndexOf(atMs);
  const isSameMonth = state.month !== null && state.month.month === monthOf(atMs);
  return {
    minute: at < 0 ? state.minute : state.minute.toSpliced(at, 1),
    month:
      isSameMonth && state.month !== null
        ? { ...state.month, used: Math.max(0, state.month.used - 1) }
        : state.month,
  };
}

/** Decides one call by one window alone. */
export function decideWindow(log: CallLog, window: WindowLimit): WindowDecision {
  const recent = recentCalls(log, window);
  const isAllowed = recent.length < window.limit;
  const kept = isAllowed ? [...recent, window.nowMs] : recent;
  return { isAllowed, log: kept, quota: windowQuota(kept, window) };
}

/** The calls that count at this time, ascending; those in the future as if made now. */
export function recentCalls(log: CallLog, window: Omit<WindowLimit, "limit">): CallLog {
  const { windowMs, nowMs } = window;
  const first = log.findIndex((atMs) => nowMs - atMs < windowMs);
  if (first < 0) return [];
  const recent = first === 0 ? log : log.slice(first);
  const isAhead = (recent.at(-1) ?? nowMs) > nowMs;
  return isAhead ? recent.map((atMs) => Math.min(atMs, nowMs)) : recent;
}

/** `recent` holds only calls that count now. */
function windowQuota(recent: CallLog, { limit, windowMs, nowMs }: WindowLimit): Quota {
  // A limit that was lowered may leave more calls than it allows: then one becomes possible when
  // the excess is gone.
  const blocking = recent[Math.max(0, recent.length - limit)];
  return {
    limit,
    used: recent.length,
    remaining: Math.max(0, limit - recent.length),
    resetSeconds: blocking === undefined ? 0 : Math.ceil((blocking + windowMs - nowMs) / 1000),
  };
}

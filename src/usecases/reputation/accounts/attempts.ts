// Limits of failed sign-ins and of signups. D-5.4.

import { isForeignUsername } from "../../../domain/reputation/accounts/account.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  MAX_ACCOUNT_SIGN_IN_FAILURES,
  MAX_ADDRESS_SIGN_IN_FAILURES,
  SIGN_IN_WINDOW_MS,
} from "../../../domain/shared/limits.ts";
import type { AttemptCounter } from "../../../ports/accounts/sign-in-guard.ts";

/** The counters of a failed sign-in. A name that no account can have is not kept, however often it is tried. */
export function attemptCounters(
  username: string,
  address: string,
  nowMs: number,
): readonly AttemptCounter[] {
  const ofAddress = addressCounter(address, nowMs);
  return isForeignUsername(username) ? [accountCounter(username, nowMs), ofAddress] : [ofAddress];
}

function accountCounter(username: string, nowMs: number): AttemptCounter {
  return {
    name: `account:${username}`,
    limit: MAX_ACCOUNT_SIGN_IN_FAILURES,
    windowMs: SIGN_IN_WINDOW_MS,
    nowMs,
  };
}

/** The counter of an address's failed sign-ins and of its signups. */
export function addressCounter(address: string, nowMs: number): AttemptCounter {
  return {
    name: `address:${address}`,
    limit: MAX_ADDRESS_SIGN_IN_FAILURES,
    windowMs: SIGN_IN_WINDOW_MS,
    nowMs,
  };
}

export function requireNoWait(seconds: number | null): void {
  if (seconds === null) return;
  throw new AppError("rate_limited", `Too many attempts; try again in ${seconds} s`, {
    retryAfterSeconds: Math.max(1, seconds),
  });
}

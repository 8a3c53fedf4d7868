// Limits of failed sign-ins, of signups, and of changes. D-5.4, D-8.5.
import { isForeignUsername } from "../../../domain/reputation/accounts/account.ts";
import {
  type AttemptCounter,
  addressGroup,
  addressKey,
  changesKey,
  failuresKey,
  knownAddressKey,
} from "../../../domain/reputation/accounts/attempts.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  KNOWN_ADDRESS_MS,
  MAX_ACCOUNT_SIGN_IN_FAILURES,
  MAX_ADDRESS_SIGN_IN_FAILURES,
  MINUTE_WINDOW_MS,
  SIGN_IN_WINDOW_MS,
} from "../../../domain/shared/limits.ts";
import type { AccountDeps } from "./deps.ts";

export interface Caller {
  readonly address: string;
  /** Aborted when nobody waits for the answer: then the password is not checked. D-11.8. */
  readonly gone: AbortSignal;
}

export interface SignInAttempt {
  readonly username: string;
  readonly address: string;
  readonly nowMs: number;
}

/**
 * The counters of a failed sign-in. A name that no account can have is not kept. An address that has signed in to the account
 * before is limited by its own counter alone: strangers lock nobody out. D-8.5.
 */
export async function attemptCounters(
  { signIns }: AccountDeps,
  attempt: SignInAttempt,
): Promise<readonly AttemptCounter[]> {
  const ofAddress = addressCounter(attempt.address, attempt.nowMs);
  const isCounted =
    isForeignUsername(attempt.username) &&
    (await signIns.retryAfterSeconds([knownAddress(attempt)])) === null;
  return isCounted ? [accountCounter(attempt), ofAddress] : [ofAddress];
}

/** The counters of a failed change of a password, from any address. D-8.7. */
export function passwordCounters(attempt: SignInAttempt): readonly AttemptCounter[] {
  return [accountCounter(attempt), addressCounter(attempt.address, attempt.nowMs)];
}

function accountCounter({ username, nowMs }: SignInAttempt): AttemptCounter {
  const limit = MAX_ACCOUNT_SIGN_IN_FAILURES;
  return { key: failuresKey(username), limit, windowMs: SIGN_IN_WINDOW_MS, nowMs };
}

/** A counter used as a mark: one event, the last sign-in to the account from the address, fills it for its window. */
export function knownAddress({ username, address, nowMs }: SignInAttempt): AttemptCounter {
  const key = knownAddressKey(username, addressGroup(address));
  return { key, limit: 1, windowMs: KNOWN_ADDRESS_MS, nowMs };
}

/** The counter of the failed sign-ins and the signups of an address. */
export function addressCounter(address: string, nowMs: number): AttemptCounter {
  const limit = MAX_ADDRESS_SIGN_IN_FAILURES;
  return { key: addressKey(addressGroup(address)), limit, windowMs: SIGN_IN_WINDOW_MS, nowMs };
}

/** Counts a change by an account. Throws `rate_limited` after too many within a minute. D-8.5. */
export async function countChange(
  { signIns, clock, accountWritesPerMinute: limit }: AccountDeps,
  username: string,
): Promise<void> {
  const window = { windowMs: MINUTE_WINDOW_MS, nowMs: clock.nowMs() };
  requireNoWait(await signIns.count([{ key: changesKey(username), limit, ...window }], username));
}

export function requireNoWait(seconds: number | null): void {
  if (seconds === null) return;
  throw new AppError("rate_limited", "Too many attempts", {
    retryAfterSeconds: Math.max(1, seconds),
  });
}

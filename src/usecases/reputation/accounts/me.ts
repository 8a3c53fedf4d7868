// The data that signed-in users read and change of their own. D-5.5, D-6.6.
import {
  type Account,
  NO_PASSWORD,
  OWN_ISSUER,
} from "../../../domain/reputation/accounts/account.ts";
import { callsByDay } from "../../../domain/reputation/accounts/call-history.ts";
import { chargeCalls, usageBody } from "../../../domain/reputation/accounts/call-meter.ts";
import { effectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import {
  isPublicProfile,
  type ProfileChanges,
  profileBody,
} from "../../../domain/reputation/score/profile.ts";
import { computeScore } from "../../../domain/reputation/score/score.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { type Caller, passwordCounters, requireNoWait } from "./attempts.ts";
import type { AccountDeps } from "./deps.ts";
import type { Identity } from "./identity.ts";
import { wrongCredentials } from "./sessions.ts";

/** The use of an account's limits, and its calls by day. */
export async function readUsage(deps: AccountDeps, account: Account) {
  const limits = effectiveLimits(account);
  const { reading, nowMs } = await deps.usage.read(account.username, limits);
  const { quotasAfter } = chargeCalls(reading, { calls: 0, limits, nowMs });
  const days = callsByDay(await deps.usage.history(account.username), nowMs);
  const quotas = quotasAfter(0);
  return { ...usageBody(account.plan, quotas, reading.blockingMs, nowMs), days };
}

/** The score with its points by platform. Throws `profile_not_found`. */
export async function explainScore(deps: AccountDeps, username: string) {
  const { profile, accounts } = await deps.profiles.read(username);
  if (profile === null) throw noProfile();
  const nowMs = deps.clock.nowMs();
  return { username, ...computeScore({ profile, accounts, nowMs }) };
}

/** Throws `profile_not_found`. */
export async function readProfile(deps: AccountDeps, username: string) {
  const { profile } = await deps.profiles.read(username);
  if (profile === null) throw noProfile();
  return ownProfileBody(profile);
}

/** Throws `profile_not_found`. */
export async function changeProfile(deps: AccountDeps, username: string, changes: ProfileChanges) {
  const row = await deps.profiles.change(username, changes, deps.clock.nowMs());
  if (row === null) throw noProfile();
  return ownProfileBody(row);
}

function ownProfileBody(row: JsonObject) {
  return { ...profileBody(row), public: isPublicProfile(row) };
}

function noProfile(): AppError {
  return new AppError("profile_not_found", "This account has no profile", { hint: null });
}

interface PasswordRequest {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly caller: Caller;
}

/**
 * Changes one's own password, and ends all other sessions of the account at once, on every instance. Throws `credentials_invalid`
 * for a wrong password, which counts as a failed sign-in, `rate_limited` after too many, `conflict` for an account without a
 * password here, and `overloaded`. D-8.7.
 */
export async function changePassword(
  deps: AccountDeps,
  { account, session }: Pick<Identity, "account" | "session">,
  { currentPassword, newPassword, caller }: PasswordRequest,
): Promise<{ readonly status: "changed" }> {
  const { username, passwordHash } = account;
  if (account.issuer !== OWN_ISSUER || passwordHash === null) {
    throw new AppError("conflict", NO_PASSWORD);
  }
  const { address, gone } = caller;
  const counters = passwordCounters({ username, address, nowMs: deps.clock.nowMs() });
  const requireTry = async () => requireNoWait(await deps.signIns.retryAfterSeconds(counters));
  await requireTry();
  return await deps.passwordSemaphore.use(async () => {
    await requireTry();
    const isRight = await deps.passwords.verify(currentPassword, passwordHash);
    if (!isRight) {
      requireNoWait(await deps.signIns.count(counters));
      throw wrongCredentials("The current password is wrong");
    }
    await requireTry();
    const to = await deps.passwords.hash(newPassword);
    const keptSession = session.kind === "own" ? session.id : null;
    const change = { from: passwordHash, to, keptSession };
    if (await deps.accounts.changePassword(username, change)) return { status: "changed" };
    throw wrongCredentials("The password was changed meanwhile");
  }, gone);
}

// The data that signed-in users read and change of their own. D-5.5, D-6.6.
import {
  type Account,
  NO_PASSWORD,
  OWN_ISSUER,
} from "../../../domain/reputation/accounts/account.ts";
import { callsByDay } from "../../../domain/reputation/accounts/call-history.ts";
import { chargeCalls, usageBody } from "../../../domain/reputation/accounts/call-meter.ts";
import {
  type ConsentFilterQuery,
  type ConsentPurpose,
  consentItem,
  readConsentFilter,
  readExpiry,
} from "../../../domain/reputation/accounts/consent.ts";
import { effectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import {
  isPublicProfile,
  type ProfileChanges,
  profileBody,
} from "../../../domain/reputation/score/profile.ts";
import { computeScore } from "../../../domain/reputation/score/score.ts";
import { AppError, type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { type ListParameters, listPart, readListQuery } from "../../../domain/shared/list-query.ts";
import { type Caller, passwordCounters, requireNoWait } from "./attempts.ts";
import type { AccountDeps } from "./deps.ts";
import { erasedMeanwhile, type Identity } from "./identity.ts";
import { wrongCredentials } from "./sessions.ts";

/** The use of an account's limits, and its calls by day. */
export async function readUsage(deps: AccountDeps, account: Account) {
  const limits = effectiveLimits(account);
  const { reading, history, nowMs } = await deps.usage.read(account.username, limits);
  const { quotasAfter } = chargeCalls(reading, { calls: 0, limits, nowMs });
  const days = callsByDay(history, nowMs);
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

interface ConsentRequest {
  readonly purpose: ConsentPurpose;
  /** ISO 8601; null or absent: it does not end. */
  readonly expiresAt?: string | null;
}

const CURSOR = /^[1-9]\d{0,14}$/;

/** Ends an active consent of the same purpose. Throws `invalid_request`, and `token_invalid` after an erasure. D-6.1. */
export async function grantConsent(deps: AccountDeps, username: string, request: ConsentRequest) {
  const nowMs = deps.clock.nowMs();
  const { purpose } = request;
  const expiresAt = readExpiry(request.expiresAt, nowMs);
  const consent = await deps.consents.grant(username, { purpose, expiresAt, nowMs });
  if (consent === null) throw erasedMeanwhile();
  return consentItem(consent, nowMs);
}

/** Ends a consent; an ended one stays as it is. Throws `not_found` for one that is not the owner's. D-6.1, D-6.3. */
export async function endConsent(deps: AccountDeps, username: string, id: string) {
  const nowMs = deps.clock.nowMs();
  const target = CURSOR.test(id) ? { id: Number(id), nowMs } : null;
  const consent = target === null ? null : await deps.consents.revoke(username, target);
  if (consent === null) throw new AppError("not_found", "There is no such consent");
  return consentItem(consent, nowMs);
}

/** Lists the owner's consents, newest first. Throws `invalid_request`., D-6.1. */
export async function listConsents(
  deps: AccountDeps,
  username: string,
  input: ListParameters & ConsentFilterQuery,
) {
  const problems: InputProblem[] = [];
  const filter = readConsentFilter(input, problems);
  const { limit, cursor } = readListQuery(input, CURSOR, problems);
  refuse(problems);
  const nowMs = deps.clock.nowMs();
  const beforeId = cursor === null ? null : Number(cursor);
  const query = { filter, nowMs, limit: limit + 1, beforeId };
  const found = await deps.consents.list(username, query);
  return listPart(found, limit, {
    toItem: (consent) => consentItem(consent, nowMs),
    cursorOf: ({ id }) => String(id),
  });
}

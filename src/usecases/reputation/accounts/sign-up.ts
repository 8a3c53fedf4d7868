import {
  type Account,
  accountBody,
  NEW_ACCOUNT,
  type SignUp,
} from "../../../domain/reputation/accounts/account.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { addressCounter, type Caller, requireNoWait } from "./attempts.ts";
import type { AccountDeps, SessionDeps } from "./deps.ts";
import type { Credentials } from "./sessions.ts";

/** What somebody who is not signed in can do here; `identityProvider` is the issuer whose tokens are accepted. D-9.3. */
export async function readSignUpState(deps: SessionDeps) {
  return {
    enabled: deps.isSignupEnabled,
    identityProvider: deps.identityProvider?.issuer ?? null,
    administratorExists: await deps.accounts.hasAdministrator(),
  };
}

/** Throws `forbidden` where signing up is disabled. D-1.3. */
export function requireSignUpEnabled(deps: AccountDeps): void {
  if (deps.isSignupEnabled) return;
  throw new AppError("forbidden", "Signing up is disabled here");
}

/**
 * Makes an account and its profile. Throws `username_taken` (also for a name that came by sync, and for `ADMIN_USERNAME`),
 * `email_taken`, `rate_limited`, `overloaded`. D-5.4, D-8.1.
 */
export async function signUp(deps: AccountDeps, request: SignUp, { address, gone }: Caller) {
  const { username, email, password, displayName = null } = request;
  const nowMs = deps.clock.nowMs();
  requireNoWait(await deps.signIns.count([addressCounter(address, nowMs)]));
  const passwordHash = await deps.passwordSemaphore.use(() => deps.passwords.hash(password), gone);
  const account: Account = { ...NEW_ACCOUNT, username, email, passwordHash, createdAtMs: nowMs };
  const isReserved = username === deps.adminUsername;
  const outcome = isReserved
    ? "username_taken"
    : await deps.membership.enrol({ account, displayName });
  if (outcome === "enrolled") return accountBody(account);
  const what = outcome === "username_taken" ? "username" : "e-mail address";
  throw new AppError(outcome, `This ${what} is taken`);
}

/**
 * Makes an administrator's account. Resolves to false, without a change, when there is an account of that name. The name may be
 * any of 1-200 characters, and the caller checks the password (`isForeignUsername`, `isPassword`). D-1.3.
 */
export async function createAdministrator(
  deps: AccountDeps,
  { username, password }: Credentials,
): Promise<boolean> {
  if ((await deps.accounts.find(username)) !== null) return false;
  const outcome = await deps.accounts.create({
    ...NEW_ACCOUNT,
    username,
    passwordHash: await deps.passwords.hash(password),
    role: "administrator",
    createdAtMs: deps.clock.nowMs(),
  });
  return outcome === "created";
}

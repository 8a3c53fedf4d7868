// Changes one's own password. D-8.7.
import { OWN_ISSUER } from "../../../domain/reputation/accounts/account.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { type Caller, passwordCounters, requireNoWait } from "./attempts.ts";
import type { AccountDeps } from "./deps.ts";
import type { Identity } from "./identity.ts";
import { wrongCredentials } from "./sessions.ts";

interface PasswordRequest {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly caller: Caller;
}

/**
 * Changes the password and ends all other sessions of the account, on every instance at once. Throws `credentials_invalid`
 * for a wrong password, which counts as a failed sign-in, `rate_limited` after too many of them, `conflict` for an account
 * without a password here, and `overloaded`.
 */
export async function changePassword(
  deps: AccountDeps,
  { account, session }: Pick<Identity, "account" | "session">,
  { currentPassword, newPassword, caller }: PasswordRequest,
): Promise<{ readonly status: "changed" }> {
  const { username, passwordHash } = account;
  if (account.issuer !== OWN_ISSUER || passwordHash === null) {
    throw new AppError("conflict", "This account has no password here");
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

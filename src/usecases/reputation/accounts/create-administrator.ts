import { NEW_ACCOUNT_PLAN } from "../../../domain/reputation/accounts/plan.ts";
import { OWN_ISSUER } from "../../../domain/reputation/accounts/roles.ts";
import type { AccountDeps } from "./deps.ts";
import type { Credentials } from "./sessions.ts";

/**
 * Makes an administrator's account. Resolves to false, and changes nothing, when an account of that name exists. The name
 * may be any of 1-200 characters, the password is checked by the caller (`isForeignUsername`, `isPassword`). D-1.3.
 */
export async function createAdministrator(
  deps: Pick<AccountDeps, "accounts" | "passwords" | "clock">,
  { username, password }: Credentials,
): Promise<boolean> {
  if ((await deps.accounts.find(username)) !== null) return false;
  const outcome = await deps.accounts.create({
    username,
    email: null,
    passwordHash: await deps.passwords.hash(password),
    role: "administrator",
    issuer: OWN_ISSUER,
    ...NEW_ACCOUNT_PLAN,
    createdAtMs: deps.clock.nowMs(),
  });
  return outcome === "created";
}

import {
  type Identity,
  type IdentityDeps,
  identify,
  identifyAdministrator,
} from "../../usecases/reputation/accounts/identity.ts";
import { bearerCredentials } from "./bearer-credentials.ts";

/** Name of the cookie of a session. D-5.4. */
export const SESSION_COOKIE = "repsync_session";

/** Lets a signed-in user pass. Throws `token_missing`, `token_invalid`, `token_expired`, `forbidden`. */
export async function requireUser(deps: IdentityDeps, headers: Headers): Promise<Identity> {
  return await identify(deps, tokenOf(headers));
}

/** Lets an administrator pass; anybody else who is signed in is `forbidden`. D-4.1, D-5.7. */
export async function requireAdministrator(
  deps: IdentityDeps,
  headers: Headers,
): Promise<Identity> {
  return await identifyAdministrator(deps, tokenOf(headers));
}

/** The username of a signed-in user. Throws as `requireUser`. */
export async function requireUsername(deps: IdentityDeps, headers: Headers): Promise<string> {
  return (await requireUser(deps, headers)).account.username;
}

/**
 * Lets a caller pass, reads what they send, and asks for them again: a session that has ended while the body was on
 * its way does nothing any more. D-3.11, D-6.3.
 */
export async function requireThenRead<Caller, Body>(
  require: () => Promise<Caller>,
  read: () => Promise<Body>,
): Promise<{ readonly caller: Caller; readonly body: Body }> {
  await require();
  const body = await read();
  return { caller: await require(), body };
}

/** The token of a request, from `Authorization` or else the cookie; null when there is none. */
function tokenOf(headers: Headers): string | null {
  const authorization = headers.get("authorization");
  if (authorization !== null) {
    // An empty header is no token; another scheme and what has blanks in it are a bad one.
    if (authorization === "") return null;
    const token = bearerCredentials(authorization) ?? "";
    return /\s/.test(token) ? "" : token;
  }
  const cookies = (headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  const found = cookies.find((cookie) => cookie.startsWith(`${SESSION_COOKIE}=`));
  return found?.slice(SESSION_COOKIE.length + 1) ?? null;
}

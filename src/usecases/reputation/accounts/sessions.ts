// Sessions of accounts of this service: signing in and out. D-5.4, D-6.3.
import { type Account, OWN_ISSUER } from "../../../domain/reputation/accounts/account.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  SESSION_RENEWAL_MS,
  SESSION_TTL_SECONDS,
  TOKEN_RENEWAL_AGE_MS,
} from "../../../domain/shared/limits.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import {
  attemptCounters,
  type Caller,
  knownAddress,
  requireNoWait,
  type SignInAttempt,
} from "./attempts.ts";
import type { AccountDeps, SessionDeps } from "./deps.ts";
import {
  type Identity,
  requireNotSuspended,
  storedSessionId,
  type TokenSession,
} from "./identity.ts";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The store's clock may be behind the one that checked the token. */
const CLOCK_MARGIN_MS = 60_000;
/** The last time of a `Date`; a token may claim to be valid for longer. */
const LAST_MS = 8_640_000_000_000_000;

/**
 * Begins a session. Throws `credentials_invalid` for a wrong password and an unknown name alike, `rate_limited` after too many
 * failures, `overloaded` when the password is not checked in time, and `account_suspended` to the right password only. D-5.4,
 * D-8.5, D-8.8.
 */
export async function signIn(
  deps: SessionDeps,
  { username, password }: Credentials,
  { address, gone }: Caller,
) {
  const nowMs = deps.clock.nowMs();
  const attempt = { username, address, nowMs };
  const counters = await attemptCounters(deps, attempt);
  const requireTry = async () => requireNoWait(await deps.signIns.retryAfterSeconds(counters));
  await requireTry();
  return await deps.passwordSemaphore.use(async () => {
    // Asked again once a slot is free: many guesses at once must not keep other callers waiting.
    await requireTry();
    const account = await deps.accounts.find(username);
    const hash = account?.issuer === OWN_ISSUER ? account.passwordHash : null;
    const isRight = await deps.passwords.verify(password, hash);
    if (account === null || !isRight) {
      // Where parallel guesses have used up the limit, the answer is rate_limited and tells nothing.
      requireNoWait(await deps.signIns.count(counters));
      throw wrongCredentials();
    }
    await requireTry();
    requireNotSuspended(account);
    return await beginSession(deps, account, attempt);
  }, gone);
}

async function beginSession(deps: SessionDeps, account: Account, attempt: SignInAttempt) {
  const issuedAtMs = Math.floor(deps.clock.nowMs() / 1000) * 1000;
  const expiresAtMs = issuedAtMs + SESSION_TTL_SECONDS * 1000;
  const { username, role } = account;
  const sessionId = deps.ids.next();
  const token = await deps.tokens.issue({
    subject: username,
    role,
    sessionId,
    signedInAtMs: issuedAtMs,
    issuedAtMs,
    expiresAtMs,
  });
  const session = { id: storedSessionId(deps, sessionId), username, expiresAtMs };
  // While the password was checked, the account may have been suspended, or erased and its name taken again.
  const { passwordHash } = account;
  const checked = { passwordHash, atMs: issuedAtMs, marks: [knownAddress(attempt)] };
  const accountNow = await deps.sessions.begin(session, checked);
  if (accountNow === null) throw wrongCredentials();
  requireNotSuspended(accountNow);
  return { token, tokenType: "Bearer", expiresAt: formatMs(expiresAtMs), role } as const;
}

export function wrongCredentials(message = "Username or password is wrong"): AppError {
  return new AppError("credentials_invalid", message);
}

/** Ends all sessions of an account at once, on every instance, also that of a foreign token. D-8.7. */
export async function signOutEverywhere(
  deps: AccountDeps,
  { account, session }: Pick<Identity, "account" | "session">,
): Promise<void> {
  await deps.sessions.endAllOf(account.username);
  if (session.kind === "foreign") await signOut(deps, session);
}

/** Ends a session at once, on every instance: its token is refused. D-5.4, D-6.3. */
export async function signOut({ sessions }: AccountDeps, session: TokenSession): Promise<void> {
  if (session.kind === "own") {
    return await sessions.end({ username: session.claims.subject, id: session.id });
  }
  const { endId: id, expiresAtMs } = session;
  const keptUntilMs = Math.min(Math.ceil(expiresAtMs) + CLOCK_MARGIN_MS, LAST_MS);
  await sessions.noteEnd(id, keptUntilMs);
}

/**
 * A fresh token of the same session for an hour, as sessions of browsers go on while they are used. Null for a token younger than
 * 10 minutes, from 12 hours after signing in, and for a session that has ended or began elsewhere. D-9.3.
 */
export async function renewSession(
  { sessions, tokens, clock }: SessionDeps,
  { role, session }: Identity,
): Promise<string | null> {
  if (session.kind === "foreign") return null;
  const { issuedAtMs, signedInAtMs } = session.claims;
  const nowMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const isDue = nowMs - issuedAtMs > TOKEN_RENEWAL_AGE_MS;
  if (!isDue || nowMs - signedInAtMs >= SESSION_RENEWAL_MS) return null;
  const expiresAtMs = nowMs + SESSION_TTL_SECONDS * 1000;
  const name = { username: session.claims.subject, id: session.id };
  if (!(await sessions.extend(name, expiresAtMs))) return null;
  return await tokens.issue({ ...session.claims, role, issuedAtMs: nowMs, expiresAtMs });
}

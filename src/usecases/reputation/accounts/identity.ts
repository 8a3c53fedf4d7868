// Finds the account of a request's token. D-5.4, D-5.5.
import {
  type Account,
  isForeignUsername,
  isIssuedSince,
  NEW_ACCOUNT,
  OWN_ISSUER,
  type Role,
} from "../../../domain/reputation/accounts/account.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import type { ForeignIdentity, TokenClaims } from "../../../ports/crypto/crypto.ts";
import type { AccountDeps, SessionDeps } from "./deps.ts";

export interface Identity {
  readonly account: Account;
  readonly role: Role;
  readonly session: TokenSession;
}

export type TokenSession =
  /** `id`: as it is stored. */
  | { readonly kind: "own"; readonly id: string; readonly claims: TokenClaims }
  /** Begun elsewhere: this service keeps its end while the token is valid. */
  | { readonly kind: "foreign"; readonly endId: string; readonly expiresAtMs: number };

/** A session counts as over this time before its end, as the store's clock may be ahead. */
const SESSION_END_MARGIN_MS = 10_000;

/**
 * Finds the account of a token; null is no token. Throws `token_missing`, `token_invalid`, `token_expired`, `account_suspended`,
 * and `forbidden` for a token of another issuer than the account's. A token of the identity provider makes its account where
 * there is none; one from before the last erasure of its name is `token_invalid` (D-8.2).
 */
export async function identify(deps: SessionDeps, token: string | null): Promise<Identity> {
  if (token === null) {
    throw new AppError("token_missing", "This needs a token");
  }
  const own = await deps.tokens.verify(token);
  if (typeof own !== "string") return await ownIdentity(deps, own);
  if (own === "token_expired" || deps.identityProvider === null) throw tokenError(own);
  const foreign = await deps.identityProvider.verify(token);
  if (typeof foreign === "string") throw tokenError(foreign);
  return await foreignIdentity(deps, foreign, endIdOf(deps, token));
}

/** As `identify`; throws `forbidden` for anybody but an administrator. D-4.1, D-5.7. */
export async function identifyAdministrator(
  deps: SessionDeps,
  token: string | null,
): Promise<Identity> {
  const identity = await identify(deps, token);
  requireAdministrator(identity);
  return identity;
}

function requireAdministrator({ role }: Pick<Identity, "role">): void {
  if (role === "administrator") return;
  throw new AppError("forbidden", "Only an administrator may do this");
}

/**
 * Checks an administrator again during long work. Throws `token_invalid` when the session has ended or the account is erased,
 * `account_suspended`, and `forbidden` for who is no administrator any more. A token that runs out ends no work. D-14.4.
 */
export async function requireStillAdministrator(
  deps: AccountDeps,
  { account: { username, createdAtMs }, session }: Identity,
): Promise<void> {
  const isOver =
    session.kind === "foreign" ||
    deps.clock.nowMs() > session.claims.expiresAtMs - SESSION_END_MARGIN_MS;
  const account = isOver
    ? await deps.accounts.find(username)
    : await deps.sessions.accountOf({ username, id: session.id });
  if (account?.createdAtMs !== createdAtMs) throw tokenError("token_invalid");
  requireNotSuspended(account);
  requireAdministrator(account);
}

/** The role is the account's present one, not the token's. */
async function ownIdentity(deps: AccountDeps, claims: TokenClaims): Promise<Identity> {
  const { subject, sessionId } = claims;
  const id = storedSessionId(deps, sessionId);
  const account = await deps.sessions.accountOf({ username: subject, id });
  if (account?.issuer !== OWN_ISSUER) throw tokenError("token_invalid");
  requireNotSuspended(account);
  return { account, role: account.role, session: { kind: "own", id, claims } };
}

async function foreignIdentity(
  deps: AccountDeps,
  foreign: ForeignIdentity,
  endId: string,
): Promise<Identity> {
  const { subject, issuer, expiresAtMs, issuedAtMs } = foreign;
  if (!isForeignUsername(subject)) throw tokenError("token_invalid");
  const [{ hasEnded, account: found }, erased] = await Promise.all([
    deps.sessions.findForeign({ username: subject, id: endId }),
    deps.names.findErased(subject),
  ]);
  // A token from before an erasure is of the erased person, even where the name is taken again.
  const nowMs = deps.clock.nowMs();
  const isOfErased = erased !== null && !isIssuedSince(dateTimeMs(erased.at), issuedAtMs, nowMs);
  if (hasEnded || isOfErased) throw tokenError("token_invalid");
  const account = found ?? (await makeForeignAccount(deps, foreign));
  if (account.issuer !== issuer) {
    throw new AppError("forbidden", "This username belongs to an account of another issuer");
  }
  const { tokensSinceMs = null } = account;
  if (tokensSinceMs !== null && !isIssuedSince(tokensSinceMs, issuedAtMs, nowMs)) {
    throw tokenError("token_invalid");
  }
  requireNotSuspended(account);
  return { account, role: "user", session: { kind: "foreign", endId, expiresAtMs } };
}

/** The stored id of a session: no token can be made from a copy of the store. D-8.7. */
export function storedSessionId({ pepperMac }: AccountDeps, sessionId: string): string {
  return `session-${pepperMac.hex(`repsync.session.v1\n${sessionId}`)}`;
}

/** Hashes the signed part, as some signatures can be written in more than one way. */
function endIdOf({ pepperMac }: AccountDeps, token: string): string {
  return `ended-${pepperMac.hex(token.slice(0, token.lastIndexOf(".")))}`;
}

async function makeForeignAccount(
  deps: AccountDeps,
  { subject, issuer, issuedAtMs: tokenIssuedAtMs }: ForeignIdentity,
): Promise<Account> {
  const createdAtMs = deps.clock.nowMs();
  const account: Account = { ...NEW_ACCOUNT, username: subject, issuer, createdAtMs };
  const outcome = await deps.accounts.create(account, { tokenIssuedAtMs });
  if (outcome === "created") return account;
  if (outcome === "erased_since") throw tokenError("token_invalid");
  // Another request with a token for this account came first.
  const found = await deps.accounts.find(subject);
  if (found === null) throw tokenError("token_invalid");
  return found;
}

/** Throws `account_suspended`. D-8.8. */
export function requireNotSuspended({ suspendedAtMs }: Account): void {
  if (suspendedAtMs === null) return;
  throw new AppError("account_suspended", "This account is suspended");
}

/** The error for an account that was erased during its own request. D-5.5. */
export function erasedMeanwhile(): AppError {
  return new AppError("token_invalid", "The account was erased a moment ago");
}

function tokenError(problem: "token_invalid" | "token_expired"): AppError {
  const message =
    problem === "token_expired"
      ? "The token has expired"
      : "The token is not valid here, or its session has ended";
  return new AppError(problem, message);
}

import type { TObject } from "@sinclair/typebox";
import type { AdminRequest } from "../../domain/reputation/audit/admin-entry.ts";
import { type ChangeLimitDeps, countChange } from "../../usecases/reputation/accounts/attempts.ts";
import {
  type Identity,
  type IdentityDeps,
  identify,
  identifyAdministrator,
} from "../../usecases/reputation/accounts/identity.ts";
import { readBody } from "../bodies.ts";
import type { Admitted, Guard } from "../description.ts";
import { type Exchange, exchangeOf } from "../exchange.ts";
import type { Failures } from "../failures.ts";
import { cookieToken, requireOwnPage } from "./browser.ts";

/** What lets signed-in people change something. */
export type WriterDeps = IdentityDeps & ChangeLimitDeps;

/** The scheme and the blanks after it, without backtracking, as a header can be long. */
const BEARER = /^Bearer(?: +|$)/i;

const SECURITY = [{ bearer: [] }, { session: [] }];
const NO_TOKEN = "Token missing, invalid or expired";
const USER: Failures = {
  401: NO_TOKEN,
  403: "The username belongs to an account of another issuer, or a page of another origin sent the cookie",
};
const WRITER: Failures = { ...USER, 429: "Too many changes of this account within a minute" };
const ADMINISTRATOR: Failures = {
  401: NO_TOKEN,
  403: "Not an administrator, or another issuer's account",
};
/** D-4.1. */
const SYNC_ADMINISTRATOR: Failures = {
  401: NO_TOKEN,
  403: "Signed in, but not as an administrator",
};

/** Whoever is signed in. D-5.5. */
export function user(deps: IdentityDeps): Guard<Identity> {
  const admit = (exchange: Exchange) => admitBy(exchange, (token) => identify(deps, token));
  return { security: SECURITY, failures: USER, admit, admitAgain: admit };
}

/** Whoever is signed in and changes something, so many times a minute. D-8.5. */
export function writer(deps: WriterDeps): Guard<Identity> {
  const signedIn = user(deps);
  return {
    ...signedIn,
    failures: WRITER,
    async admit(exchange, path) {
      const admitted = await signedIn.admit(exchange, path);
      await countChange(deps, admitted.caller.account.username);
      return admitted;
    },
  };
}

/** An administrator who asks for something. */
export interface AskingAdministrator extends AdminRequest {
  readonly by: string;
}

/** An administrator, as the audit record of what is asked tells. D-5.7, D-8.8. */
export function administrator(deps: IdentityDeps): Guard<AskingAdministrator> {
  const admit = async (exchange: Exchange): Promise<Admitted<AskingAdministrator>> => {
    const admitted = await admitBy(exchange, (token) => identifyAdministrator(deps, token));
    const { username } = admitted.caller.account;
    return { ...admitted, caller: { by: username, requestId: exchange.requestId } };
  };
  return { security: SECURITY, failures: ADMINISTRATOR, admit, admitAgain: admit };
}

/** The same under `/api/v1/sync`. D-4.1. */
export function syncAdministrator(deps: IdentityDeps): Guard<AskingAdministrator> {
  return { ...administrator(deps), failures: SYNC_ADMINISTRATOR };
}

async function admitBy(
  { request }: Exchange,
  identifyBy: (token: string | null) => Promise<Identity>,
): Promise<Admitted<Identity>> {
  const { token, isInCookie } = tokenOf(request);
  const caller = await identifyBy(token);
  if (!isInCookie) return { caller };
  requireOwnPage(request);
  return { caller, cookieIdentity: caller };
}

/** The text after `Bearer` in an `Authorization` header, perhaps empty; null for another scheme. */
export function bearerCredentials(authorization: string): string | null {
  const scheme = BEARER.exec(authorization);
  return scheme === null ? null : authorization.slice(scheme[0].length);
}

/** Lets a signed-in user pass. Throws `token_missing`, `token_invalid`, `token_expired`, `forbidden`, and as `requireOwnPage`. */
export async function requireUser(deps: IdentityDeps, request: Request): Promise<Identity> {
  const { token, isInCookie } = tokenOf(request);
  const identity = await identify(deps, token);
  if (isInCookie) admitByCookie(request, identity);
  return identity;
}

/** Lets an administrator pass; other users are `forbidden`. D-4.1, D-5.7. */
export async function requireAdministrator(
  deps: IdentityDeps,
  request: Request,
): Promise<Identity> {
  const { token, isInCookie } = tokenOf(request);
  const identity = await identifyAdministrator(deps, token);
  if (isInCookie) admitByCookie(request, identity);
  return identity;
}

/** Throws as `requireUser`. */
export async function requireUsername(deps: IdentityDeps, request: Request): Promise<string> {
  return (await requireUser(deps, request)).account.username;
}

/** The username of somebody who asks for a change. Throws as `requireUser`, and `rate_limited`. D-8.5. */
export async function requireWriter(deps: WriterDeps, request: Request): Promise<string> {
  const username = await requireUsername(deps, request);
  await countChange(deps, username);
  return username;
}

/** The username of the sender, and the body. Throws as `requireWriter` and `readBody`. */
export async function readUserBody<Schema extends TObject>(
  deps: WriterDeps,
  request: Request,
  schema: Schema,
) {
  await requireWriter(deps, request);
  const body = await readBody(request, schema);
  // Again: a session that has ended while the body was on its way does nothing any more. D-3.11, D-6.3.
  return { username: await requireUsername(deps, request), body };
}

/** Throws as `requireAdministrator` and `readBody`. */
export async function readAdministratorBody<Schema extends TObject>(
  deps: IdentityDeps,
  request: Request,
  schema: Schema,
) {
  await requireAdministrator(deps, request);
  const body = await readBody(request, schema);
  // Again, for the same reason.
  await requireAdministrator(deps, request);
  return body;
}

/** Who asks for an act of administration, as its audit record tells. Throws as `requireAdministrator`. D-8.8. */
export async function adminRequestOf(deps: IdentityDeps, request: Request): Promise<AdminRequest> {
  const { account } = await requireAdministrator(deps, request);
  return { by: account.username, requestId: exchangeOf(request).requestId };
}

/** As `adminRequestOf`, with the body. Throws as `readAdministratorBody`. */
export async function readAdminRequest<Schema extends TObject>(
  deps: IdentityDeps,
  request: Request,
  schema: Schema,
) {
  await requireAdministrator(deps, request);
  const body = await readBody(request, schema);
  return { body, asked: await adminRequestOf(deps, request) };
}

/** Throws as `requireOwnPage`. The reply may renew the cookie. */
function admitByCookie(request: Request, identity: Identity): void {
  requireOwnPage(request);
  exchangeOf(request).cookieIdentity = identity;
}

/** The token of a request, from `Authorization` or else the cookie; null when there is none. */
function tokenOf(request: Request): {
  readonly token: string | null;
  readonly isInCookie: boolean;
} {
  const authorization = request.headers.get("authorization");
  if (authorization !== null) {
    // An empty header is no token; another scheme and what has blanks in it are a bad one.
    if (authorization === "") return { token: null, isInCookie: false };
    const token = bearerCredentials(authorization) ?? "";
    return { token: /\s/.test(token) ? "" : token, isInCookie: false };
  }
  return { token: cookieToken(request), isInCookie: true };
}

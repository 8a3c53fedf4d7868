import type { AdminRequest } from "../../domain/reputation/audit/admin-entry.ts";
import { countChange } from "../../usecases/reputation/accounts/attempts.ts";
import type { SessionDeps } from "../../usecases/reputation/accounts/deps.ts";
import {
  type Identity,
  identify,
  identifyAdministrator,
  requireStillAdministrator,
} from "../../usecases/reputation/accounts/identity.ts";
import type { Admitted, Failures, Guard } from "../description.ts";
import type { Exchange } from "../exchange.ts";
import { cookieToken, requireOwnPage } from "./browser.ts";

/** The scheme and its blanks, without backtracking, as a header can be long. */
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

/** Admits everybody who is signed in. D-5.5. */
export function user(deps: SessionDeps): Guard<Identity> {
  const admit = (exchange: Exchange) => admitBy(exchange, (token) => identify(deps, token));
  return { security: SECURITY, failures: USER, admit, admitAgain: admit };
}

/** As `user`, for a limited number of changes a minute. D-8.5. */
export function writer(deps: SessionDeps): Guard<Identity> {
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

/** An administrator, with the fields of an audit record. */
export interface AskingAdministrator extends AdminRequest {
  readonly by: string;
  /** Throws when the session has ended or the account is suspended since; a token that runs out is no end. D-14.4. */
  requireStill(): Promise<void>;
}

/** Admits administrators. D-5.7, D-8.8. */
export function administrator(deps: SessionDeps): Guard<AskingAdministrator> {
  const admit = async (exchange: Exchange): Promise<Admitted<AskingAdministrator>> => {
    const identifyBy = (token: string | null) => identifyAdministrator(deps, token);
    const { caller, ...rest } = await admitBy(exchange, identifyBy);
    const by = caller.account.username;
    const requireStill = () => requireStillAdministrator(deps, caller);
    return { ...rest, caller: { by, requestId: exchange.requestId, requireStill } };
  };
  return { security: SECURITY, failures: ADMINISTRATOR, admit, admitAgain: admit };
}

/** Admits administrators under `/api/v1/sync`. D-4.1. */
export function syncAdministrator(deps: SessionDeps): Guard<AskingAdministrator> {
  return { ...administrator(deps), failures: SYNC_ADMINISTRATOR };
}

/** Throws as `identifyBy`, and `requireOwnPage` for a token in a cookie. */
async function admitBy(
  exchange: Exchange,
  identifyBy: (token: string | null) => Promise<Identity>,
): Promise<Admitted<Identity>> {
  const { token, isInCookie } = tokenOf(exchange);
  const caller = await identifyBy(token);
  if (!isInCookie) return { caller };
  requireOwnPage(exchange);
  return { caller, cookieIdentity: caller };
}

/** The text after `Bearer` in an `Authorization` header, perhaps empty; null for another scheme. */
export function bearerCredentials(authorization: string): string | null {
  const scheme = BEARER.exec(authorization);
  return scheme === null ? null : authorization.slice(scheme[0].length);
}

/** The token of `Authorization`, or else of the cookie; null without one. */
function tokenOf(exchange: Exchange): {
  readonly token: string | null;
  readonly isInCookie: boolean;
} {
  const authorization = exchange.headers.get("authorization");
  if (authorization !== null) {
    // An empty header is no token; another scheme, and a token with blanks, is a bad one.
    if (authorization === "") return { token: null, isInCookie: false };
    const token = bearerCredentials(authorization) ?? "";
    return { token: /\s/.test(token) ? "" : token, isInCookie: false };
  }
  return { token: cookieToken(exchange), isInCookie: true };
}

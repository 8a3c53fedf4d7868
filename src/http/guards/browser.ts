// The origin of a request as browsers tell it, and what pages may do with a session cookie. D-8.6. Cookies do not know ports, so
// `SameSite=Strict` does not stop pages of another port of the host. `Sec-Fetch-Site` decides, which no page can set, and over
// plain HTTP, where browsers leave it out, `Origin` has to name the host that was asked. A request with the cookie and neither
// is refused. The token is checked first: a cookie that is no session any more is 401, whoever sends it.
import { AppError } from "../../domain/shared/errors.ts";
import { SESSION_TTL_SECONDS } from "../../domain/shared/limits.ts";
import { DEPLOYMENT_HEADER } from "../../domain/sync/table/table-schema.ts";
import type { Logger } from "../../ports/runtime/runtime.ts";
import type { AccountDeps } from "../../usecases/reputation/accounts/deps.ts";
import type { Identity } from "../../usecases/reputation/accounts/identity.ts";
import { renewSession } from "../../usecases/reputation/accounts/sessions.ts";
import { hasBody } from "../bodies.ts";
import type { Guard } from "../description.ts";
import type { Exchange } from "../exchange.ts";

/** The source of a request: `own` page or typed address, `allowed` page of `CORS_ORIGINS`, `other` page, `program`. */
type Source = "own" | "allowed" | "other" | "program";

const SAFE_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS"];
const COOKIE_RULES = "Path=/; HttpOnly; SameSite=Strict";
const JSON_TYPE = "application/json";

/** The token in the session cookie; null when there is none, or two that differ: a neighbour may have set one of them. D-11.8. */
export function cookieToken(exchange: Exchange): string | null {
  const start = `${cookieName(exchange)}=`;
  const cookies = (exchange.headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  const [cookie, ...others] = new Set(cookies.filter((cookie) => cookie.startsWith(start)));
  return cookie === undefined || others.length > 0 ? null : cookie.slice(start.length);
}

/** Takes the session cookie away. */
export function cookieRemoval(exchange: Exchange): { "Set-Cookie": string } {
  return { "Set-Cookie": sessionCookie(exchange, "", 0) };
}

/** The value of `Set-Cookie` that keeps a token for so long; 0 seconds take the cookie away. */
export function sessionCookie(exchange: Exchange, token: string, ttlSeconds: number): string {
  const cookie = `${cookieName(exchange)}=${token}; Max-Age=${ttlSeconds}; ${COOKIE_RULES}`;
  return isSecure(exchange) ? `${cookie}; Secure` : cookie;
}

/**
 * Lets a request with the session cookie pass when it changes nothing, or comes from a page of this service: browsers send the
 * cookie whoever asked them to. Throws `forbidden`, and `invalid_request` for a body that is none of `types`.
 */
export function requireOwnPage(exchange: Exchange, types: readonly string[] = [JSON_TYPE]): void {
  const { request } = exchange;
  if (SAFE_METHODS.includes(request.method)) return;
  if (sourceOf(exchange) !== "own") {
    throw new AppError(
      "forbidden",
      "A change with the session cookie has to come from a page of this service",
      { hint: "Send the token as Authorization: Bearer" },
    );
  }
  if (hasBody(request)) requireType(request, types);
}

/** True when the cookie may be set: pages of `CORS_ORIGINS` get the token alone. Throws `forbidden` for pages of other origins. */
function requireSignInPage(exchange: Exchange): { readonly isCookieSet: boolean } {
  const source = sourceOf(exchange);
  if (source === "other") {
    throw new AppError("forbidden", "Pages of other origins may not sign in here", {
      hint: "Ask an administrator to allow the origin of the page",
    });
  }
  return { isCookieSet: source !== "allowed" };
}

/** Everybody but pages of other origins. */
export const signInPage: Guard<{ readonly isCookieSet: boolean }> = {
  security: [],
  failures: {},
  admit: (exchange) => ({ caller: requireSignInPage(exchange) }),
  admitAgain(exchange) {
    requireType(exchange.request, [JSON_TYPE]);
    return signInPage.admit(exchange, {});
  },
};

/** The origin of a page of `CORS_ORIGINS` that sent the request; null for all others. */
function corsOrigin({ headers, browsers }: Exchange): string | null {
  const origin = headers.get("origin");
  const { corsOrigins } = browsers;
  return origin !== null && corsOrigins.includes(origin) ? origin : null;
}

function sourceOf(exchange: Exchange): Source {
  const { headers } = exchange;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === "same-origin" || site === "none") return "own";
  if (site === null && origin === null) return "program";
  if (site === null && origin !== null && isOwnOrigin(origin, exchange)) return "own";
  return corsOrigin(exchange) === null ? "other" : "allowed";
}

/** True when the host of an origin is the one that the request was sent to. */
function isOwnOrigin(origin: string, exchange: Exchange): boolean {
  const host = lastTrusted(exchange, "x-forwarded-host") ?? exchange.headers.get("host") ?? "";
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  const address = `${page.protocol}//${host}`;
  return page.host !== "" && URL.canParse(address) && new URL(address).host === page.host;
}

function cookieName(exchange: Exchange): string {
  const { sessionCookie: name } = exchange.browsers;
  return isSecure(exchange) ? `__Host-${name}` : name;
}

/** True when the client speaks TLS: with this service, or, as a trusted proxy tells, with the proxy. */
function isSecure(exchange: Exchange): boolean {
  if (exchange.isTls) return true;
  return lastTrusted(exchange, "x-forwarded-proto")?.toLowerCase() === "https";
}

/** The value of the outermost trusted proxy. */
function lastTrusted(exchange: Exchange, name: string): string | null {
  const { trustedProxyHops } = exchange.browsers;
  if (trustedProxyHops === 0) return null;
  const values = exchange.forwarded(name);
  return values[Math.max(0, values.length - trustedProxyHops)] ?? null;
}

/** The media type of a body, without parameters, in lower case; empty for none. */
export function mediaType({ headers }: Request): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** A form of another page cannot declare these types. Throws `invalid_request`. */
function requireType(request: Request, types: readonly string[]): void {
  if (types.includes(mediaType(request))) return;
  throw new AppError("invalid_request", `The body needs Content-Type: ${types.join(", ")}`);
}

// Replies that pages of CORS_ORIGINS may read. Never with credentials: they send a token or key of their own. D-8.6.

/** Paths of the two interfaces. */
const INTERFACES = /^\/(?:v1|api\/v1\/sync)\//;
/** Time for which a browser remembers what it may send. */
const MAX_AGE_SECONDS = 600;
const REQUEST_HEADERS = [
  ...["Authorization", "Content-Type", "X-API-Key", "X-Sync-Key", "X-Request-Id"],
  ...["Content-Encoding", "X-Content-SHA256", "X-Sync-Conflict", "X-Sync-Dry-Run", "X-Sync-Run"],
].join(", ");
/** Headers that a page may not read by itself. */
const REPLY_HEADERS = [
  ...["X-Request-Id", "Retry-After", "Allow", "WWW-Authenticate", "RateLimit", "RateLimit-Policy"],
  ...["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
  ...["X-Content-SHA256", "X-Original-Size", "X-Sync-Extensions", DEPLOYMENT_HEADER, "X-Run-Id"],
].join(", ");

/** The answer to a browser's question whether a page may send a request; null for any other request. */
export function preflightReply(exchange: Exchange, methods: readonly string[]): Response | null {
  const { request, headers: asked, path } = exchange;
  const isQuestion = request.method === "OPTIONS" && asked.has("access-control-request-method");
  if (!isQuestion || !INTERFACES.test(path) || corsOrigin(exchange) === null) return null;
  const headers = {
    ...exchange.replyHeaders(),
    "Access-Control-Allow-Methods": methods.join(", "),
    "Access-Control-Allow-Headers": REQUEST_HEADERS,
    "Access-Control-Max-Age": String(MAX_AGE_SECONDS),
  };
  return new Response(null, { status: 204, headers });
}

/** Lets the page that asked read a reply. */
export function addCorsHeaders(reply: Response, exchange: Exchange): void {
  if (exchange.browsers.corsOrigins.length === 0 || !INTERFACES.test(exchange.path)) return;
  reply.headers.append("Vary", "Origin");
  const origin = corsOrigin(exchange);
  if (origin === null) return;
  reply.headers.set("Access-Control-Allow-Origin", origin);
  reply.headers.set("Access-Control-Expose-Headers", REPLY_HEADERS);
}

// The session cookie goes on while it is used. D-9.3.

/** Gives a good reply to somebody with the cookie a fresh one, when it is time. Never rejects. */
export async function renewCookie(
  { accounts, logger }: { readonly accounts: AccountDeps; readonly logger: Logger },
  exchange: Exchange,
  identity: Identity,
  reply: Response,
): Promise<void> {
  // A reply that sets or takes the cookie has the last word.
  if (!reply.ok || reply.headers.has("set-cookie")) return;
  try {
    const token = await renewSession(accounts, identity);
    if (token === null) return;
    reply.headers.set("Set-Cookie", sessionCookie(exchange, token, SESSION_TTL_SECONDS));
  } catch {
    // The old one is good for a while, and the next request tries again.
    logger.warn("A session cookie was not renewed", { request_id: exchange.requestId });
  }
}

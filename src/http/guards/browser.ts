// The origin of a request as browsers tell it, and what pages may do with a session cookie. D-8.6. Cookies do not know ports, so
// `SameSite=Strict` does not stop pages of another port of the host. `Sec-Fetch-Site` decides, which no page can set. Over plain
// HTTP browsers leave it out: then `Origin` has to name the asked host. A request with the cookie and neither header is refused.
// The token is checked first: an ended session is 401, whoever sends its cookie.
import { AppError } from "../../domain/shared/errors.ts";
import { SESSION_TTL_SECONDS } from "../../domain/shared/limits.ts";
import { DEPLOYMENT_HEADER } from "../../domain/sync/table/table-schema.ts";
import type { Logger } from "../../ports/runtime/runtime.ts";
import type { SessionDeps } from "../../usecases/reputation/accounts/deps.ts";
import type { Identity } from "../../usecases/reputation/accounts/identity.ts";
import { renewSession } from "../../usecases/reputation/accounts/sessions.ts";
import type { Guard } from "../description.ts";
import type { Exchange } from "../exchange.ts";

const COOKIE_RULES = "Path=/; HttpOnly; SameSite=Strict";

/**
 * The token in the session cookie; null without one, and for two that differ, as another service of the host may have set one.
 * D-11.8.
 */
export function cookieToken(exchange: Exchange): string | null {
  const start = `${cookieName(exchange)}=`;
  const cookies = (exchange.headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  const [cookie, ...others] = new Set(cookies.filter((cookie) => cookie.startsWith(start)));
  return cookie === undefined || others.length > 0 ? null : cookie.slice(start.length);
}

export function cookieRemoval(exchange: Exchange): { "Set-Cookie": string } {
  return { "Set-Cookie": sessionCookie(exchange, "", 0) };
}

/** The `Set-Cookie` that keeps a token for so long; 0 seconds remove the cookie. */
export function sessionCookie(exchange: Exchange, token: string, ttlSeconds: number): string {
  const cookie = `${cookieName(exchange)}=${token}; Max-Age=${ttlSeconds}; ${COOKIE_RULES}`;
  return isSecure(exchange) ? `${cookie}; Secure` : cookie;
}

/**
 * Admits a request with the session cookie when it changes nothing or comes from a page of this service, as browsers send the
 * cookie whoever asks. Throws `forbidden`.
 */
export function requireOwnPage(exchange: Exchange): void {
  if (exchange.method === "GET" || sourceOf(exchange) === "own") return;
  throw new AppError(
    "forbidden",
    "A change with the session cookie has to come from a page of this service",
    { hint: "Send the token as Authorization: Bearer" },
  );
}

/** Everybody but pages of other origins. Pages of `CORS_ORIGINS` get the token alone, and no cookie. */
export const signInPage: Guard<{ readonly isCookieSet: boolean }> = {
  security: [],
  failures: {},
  admit(exchange) {
    const source = sourceOf(exchange);
    if (source !== "other") return { caller: { isCookieSet: source !== "allowed" } };
    throw new AppError("forbidden", "Pages of other origins may not sign in here", {
      hint: "Ask an administrator to allow the origin of the page",
    });
  },
  admitAgain(exchange) {
    requireJson(exchange.request);
    return signInPage.admit(exchange, {});
  },
};

/** The origin of a page of `CORS_ORIGINS`; null for all others. */
function corsOrigin({ headers, browsers }: Exchange): string | null {
  const origin = headers.get("origin");
  const { corsOrigins } = browsers;
  return origin !== null && corsOrigins.includes(origin) ? origin : null;
}

/** The source of a request: `own` page or typed address, `allowed` page of `CORS_ORIGINS`, `other` page, `program`. */
function sourceOf(exchange: Exchange): "own" | "allowed" | "other" | "program" {
  const { headers } = exchange;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === "same-origin" || site === "none") return "own";
  if (site === null && origin === null) return "program";
  if (site === null && origin !== null && isOwnOrigin(origin, exchange)) return "own";
  return corsOrigin(exchange) === null ? "other" : "allowed";
}

/** True when an origin is on the host that was asked. */
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

/** True when the client speaks TLS with this service, or with a trusted proxy. */
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

/** The media type without parameters, in lower case; empty for none. */
export function mediaType({ headers }: Request): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Throws `invalid_request` for another type; a form of another page cannot send this one. */
export function requireJson(request: Request): void {
  if (mediaType(request) === "application/json") return;
  throw new AppError("invalid_request", "The body needs Content-Type: application/json");
}

// Replies for pages of CORS_ORIGINS, never with credentials: they send a token or key of their own. D-8.6.

const INTERFACES = /^\/(?:v1|api\/v1\/sync)\//;
/** How long a browser remembers what it may send. */
const MAX_AGE_SECONDS = 600;
const REQUEST_HEADERS = [
  ...["Authorization", "Content-Type", "X-API-Key", "X-Sync-Key", "X-Request-Id"],
  ...["Content-Encoding", "X-Content-SHA256", "X-Sync-Columns", "X-Sync-Conflict"],
  ...["X-Sync-Dry-Run", "X-Sync-Run"],
].join(", ");
/** Headers that a page may not read by itself. */
const REPLY_HEADERS = [
  ...["X-Request-Id", "Retry-After", "Allow", "WWW-Authenticate", "RateLimit", "RateLimit-Policy"],
  ...["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Content-Disposition"],
  ...["X-Content-SHA256", "X-Original-Size", "X-Sync-Extensions", DEPLOYMENT_HEADER, "X-Run-Id"],
].join(", ");

/** The answer to a browser that asks whether a page may send a request; null for any other request. */
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

export function addCorsHeaders(reply: Response, exchange: Exchange): void {
  if (exchange.browsers.corsOrigins.length === 0 || !INTERFACES.test(exchange.path)) return;
  reply.headers.append("Vary", "Origin");
  const origin = corsOrigin(exchange);
  if (origin === null) return;
  reply.headers.set("Access-Control-Allow-Origin", origin);
  reply.headers.set("Access-Control-Expose-Headers", REPLY_HEADERS);
}

/**
 * Adds a fresh cookie to a good reply when it is due, as sessions of browsers go on while they are used. Never rejects. D-9.3.
 */
export async function renewCookie(
  { accounts, logger }: { readonly accounts: SessionDeps; readonly logger: Logger },
  exchange: Exchange,
  identity: Identity,
  reply: Response,
): Promise<void> {
  // A reply that sets or removes the cookie stays so.
  if (!reply.ok || reply.headers.has("set-cookie")) return;
  try {
    const token = await renewSession(accounts, identity);
    if (token === null) return;
    reply.headers.set("Set-Cookie", sessionCookie(exchange, token, SESSION_TTL_SECONDS));
  } catch {
    // The old cookie is good for a while; the next request tries again.
    logger.warn("A session cookie was not renewed", { request_id: exchange.requestId });
  }
}

// Replies that pages of CORS_ORIGINS may read. Never with credentials: they send a token or key of their own. D-8.6.

import type { Exchange } from "../exchange.ts";
import { corsOrigin } from "./browser.ts";

/** Paths of the two interfaces. */
const INTERFACES = /^\/(?:v1|api\/v1\/sync)\//;
/** Time for which a browser remembers what it may send. */
const MAX_AGE_SECONDS = 600;
const REQUEST_HEADERS = [
  ...["Authorization", "Content-Type", "X-API-Key", "X-Sync-Key", "X-Request-Id"],
  ...["Content-Encoding", "X-Content-SHA256", "X-Sync-Conflict", "X-Sync-Dry-Run", "X-Sync-Run"],
].join(", ");
/** Those that a page may not read by itself. */
const REPLY_HEADERS = [
  ...["X-Request-Id", "Retry-After", "Allow", "WWW-Authenticate", "RateLimit", "RateLimit-Policy"],
  ...["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
  ...["X-Content-SHA256", "X-Original-Size", "X-Sync-Extensions", "X-Run-Id"],
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

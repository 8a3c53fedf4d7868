// Turns failures of HTTP into `RemotePeerError`, with messages that are safe to log and to show.
import type { RefusalReason } from "../../domain/shared/error-kinds.ts";
import { isJsonObject, parseJsonOr } from "../../domain/shared/json.ts";
import { cutText, showHidden } from "../../domain/shared/text.ts";
import { RemotePeerError } from "../../ports/tables/remote-peer.ts";

const MAX_QUOTED_CHARS = 200;

interface WireProblem {
  /** Words that follow the label. */
  readonly problem: string;
  readonly cause?: unknown;
  readonly isTooLong?: boolean;
}

/** The error of a reply with status 200 and wrong content. */
export function invalidReply(label: string, { problem, ...options }: WireProblem): RemotePeerError {
  return new RemotePeerError(
    "invalid_reply",
    `${label} got an unusable reply: ${problem}`,
    options,
  );
}

/** The error of a request without a complete reply; `problem` says how far it came. */
export function unreachable(label: string, { problem, cause }: WireProblem): RemotePeerError {
  const reason = quotable(reasonOf(cause));
  return new RemotePeerError("unreachable", `${label} ${problem}: ${reason}`, { cause });
}

interface RefusedExchange {
  readonly label: string;
  readonly url: string;
  readonly response: Response;
  /** Null when unreadable. */
  readonly body: Uint8Array | null;
  /** Removed from the peer's text, which may quote it. */
  readonly key: string;
  readonly nowMs: (() => number) | null;
}

export function statusError(answer: RefusedExchange): RemotePeerError {
  const { response, label, key } = answer;
  const { status, headers } = response;
  const text = redirectText(response, answer.url) ?? peerErrorText(answer.body);
  const detail = text === "" ? "" : `: ${quotable(text.replaceAll(key, "…"))}`;
  const retryAfterSeconds = readRetryAfter(headers, answer.nowMs);
  const reason = refusalReason(status);
  // A peer tells why as JSON (S-7); a page is of a proxy.
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  const isProxys = isPage && ["key_rejected", "sync_disabled", "refused"].includes(reason);
  // Browsers show a redirect as status 0.
  return new RemotePeerError("status", `${label} was answered ${status || "a redirect"}${detail}`, {
    reason: isProxys ? "moved" : reason,
    ...(status === 0 ? {} : { status }),
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  });
}

const REASONS: Readonly<Record<number, RefusalReason>> = {
  401: "key_rejected",
  403: "sync_disabled",
  404: "not_found",
  405: "not_found",
  408: "passing",
  413: "too_large",
  // The body was damaged on its way. S-4.2.2 to S-4.2.4.
  422: "passing",
  425: "passing",
  429: "passing",
  501: "not_found",
};

export function refusalReason(status: number): RefusalReason {
  if (status < 400) return "moved";
  return REASONS[status] ?? (status < 500 ? "refused" : "passing");
}

/** Seconds from now, from either form of `Retry-After`; null when it is missing or unreadable. */
function readRetryAfter(headers: Headers, nowMs: (() => number) | null): number | null {
  const text = headers.get("Retry-After") ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // `Date` and `Retry-After` come from one clock; the clock of this machine may differ.
  const sentAtMs = readHttpDate(headers.get("Date")) ?? nowMs?.() ?? null;
  const untilMs = readHttpDate(text);
  if (untilMs === null || sentAtMs === null) return null;
  return Math.max(0, Math.ceil((untilMs - sentAtMs) / 1000));
}

/** Milliseconds since 1970; null when the text is not an HTTP date. */
function readHttpDate(text: string | null): number | null {
  const atMs = text?.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}

/** The target of a redirect, without query; null for other replies. */
function redirectText(response: Response, url: string): string | null {
  const { status, type, headers } = response;
  if (type !== "opaqueredirect" && (status < 300 || status > 399)) return null;
  const location = headers.get("Location") ?? "";
  if (location === "" || !URL.canParse(location, url)) return "redirects are not followed";
  const { origin, pathname } = new URL(location, url);
  return `redirects are not followed, this one leads to ${origin}${pathname}`;
}

/** The `error` text of S-7; empty for other bodies, such as a proxy's page. */
function peerErrorText(body: Uint8Array | null): string {
  const value = parseJsonOr(new TextDecoder().decode(body ?? undefined), null);
  return isJsonObject(value) && typeof value.error === "string" ? value.error : "";
}

/** The code of a network error (Bun, Node), else its text (Deno, browsers). */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(inner instanceof Error)) return String(inner);
  return "code" in inner && typeof inner.code === "string" ? inner.code : inner.message;
}

/** The text as one short line without control characters. D-11.3. */
function quotable(text: string): string {
  return cutText(showHidden(text.toWellFormed().trim()), MAX_QUOTED_CHARS);
}

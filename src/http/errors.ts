// The one place that turns failures into replies. S-7, D-5.2.
import { AppError, type AppErrorKind } from "../domain/errors.ts";
import { formatMs } from "../domain/time.ts";
import { jsonResponse } from "./json-response.ts";
import { MethodNotAllowed } from "./methods.ts";

/** What a reply to a failure needs to know of its request. */
export interface FailureContext {
  readonly path: string;
  readonly requestId: string;
  readonly nowMs: number;
}

/** Statuses of the table synchronization interface, and the `type` its errors carry. S-7. */
const SYNC_REPLIES: Record<AppErrorKind, { status: number; type?: string }> = {
  sync_disabled: { status: 403 },
  sync_key_not_configured: { status: 500 },
  sync_key_rejected: { status: 401 },
  unknown_table: { status: 400 },
  invalid_request: { status: 400 },
  body_too_large: { status: 413 },
  integrity: { status: 422, type: "integrity_error" },
  commit_failed: { status: 500 },
  store_unavailable: { status: 503 },
  schema_conflict: { status: 500 },
  remote_invalid: { status: 500, type: "sync_error" },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
};

/** `code` and title of the reputation interface's errors. D-5.2. */
const PROBLEMS: Partial<Record<AppErrorKind, { status: number; code: string; title: string }>> = {
  invalid_request: { status: 400, code: "invalid_request", title: "Invalid request" },
  body_too_large: { status: 413, code: "body_too_large", title: "Body too large" },
  not_found: { status: 404, code: "not_found", title: "Not found" },
  method_not_allowed: { status: 405, code: "method_not_allowed", title: "Method not allowed" },
  store_unavailable: { status: 503, code: "unavailable", title: "Service unavailable" },
};
const INTERNAL_PROBLEM = { status: 500, code: "internal_error", title: "Internal error" };

/** Fixed text for bugs: the cause goes to the log only. */
const INTERNAL_MESSAGE = "Internal error; the log has the details under this request's id";
const RETRY_AFTER_SECONDS = "1";

/** The reply to anything a handler throws. */
export function failureReply(error: unknown, context: FailureContext): Response {
  const reply = isReputationPath(context.path)
    ? problemReply(error, context)
    : syncErrorReply(error);
  if (error instanceof MethodNotAllowed) reply.headers.set("Allow", error.methods.join(", "));
  return reply;
}

/** True for paths that answer in the shapes of the reputation document. */
export function isReputationPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}

function syncErrorReply(error: unknown): Response {
  const known = error instanceof AppError ? error : null;
  const { status, type } = known === null ? { status: 500 } : SYNC_REPLIES[known.kind];
  const body = {
    error: known?.message ?? INTERNAL_MESSAGE,
    ...(type === undefined ? {} : { type }),
  };
  return jsonResponse(body, { status, headers: retryHeaders(status) });
}

function problemReply(error: unknown, context: FailureContext): Response {
  const known = error instanceof AppError ? PROBLEMS[error.kind] : undefined;
  const { status, code, title } = known ?? INTERNAL_PROBLEM;
  const detail =
    known !== undefined && error instanceof AppError ? error.message : INTERNAL_MESSAGE;
  const body = {
    success: false,
    type: "about:blank",
    title,
    status,
    detail,
    code,
    request_id: context.requestId,
    meta: { timestamp: formatMs(context.nowMs), version: "v1" },
  };
  const headers = { "Content-Type": "application/problem+json", ...retryHeaders(status) };
  return new Response(JSON.stringify(body), { status, headers });
}

function retryHeaders(status: number): Record<string, string> {
  return status === 503 ? { "Retry-After": RETRY_AFTER_SECONDS } : {};
}

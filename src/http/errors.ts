// The one place that turns failures into replies. S-7, D-5.2.

import {
  authenticateChallenge,
  PROBLEMS,
  type ProblemCode,
} from "../domain/reputation/accounts/problem.ts";
import { ReputationError } from "../domain/reputation/accounts/reputation-error.ts";
import { AppError, type AppErrorKind } from "../domain/shared/errors.ts";
import { formatMs } from "../domain/shared/time.ts";
import { jsonResponse } from "./json-response.ts";
import { MethodNotAllowed } from "./methods.ts";
import { problemText } from "./problem-text.ts";

/** What a reply to a failure needs to know of its request. */
export interface FailureContext {
  readonly path: string;
  readonly requestId: string;
  readonly nowMs: number;
}

interface SyncReply {
  readonly status: number;
  /** S-7. */
  readonly type?: string;
  /** `WWW-Authenticate`. */
  readonly challenge?: string;
}

/** Statuses outside of the reputation interface, and the `type` their errors carry. S-7. */
const SYNC_REPLIES: Record<AppErrorKind, SyncReply> = {
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
  sync_misconfigured: { status: 400, type: "config_error" },
  sync_failed: { status: 500, type: "sync_error" },
  remote_invalid: { status: 500, type: "sync_error" },
  metrics_token_rejected: { status: 401, challenge: "Bearer" },
  metrics_forbidden: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
};

/** What the reputation interface says of failures that are not its own; every other kind is a bug there. D-5.2. */
const PROBLEM_CODES: Partial<Record<AppErrorKind, ProblemCode>> = {
  invalid_request: "invalid_request",
  body_too_large: "body_too_large",
  not_found: "not_found",
  method_not_allowed: "method_not_allowed",
  commit_failed: "unavailable",
  store_unavailable: "unavailable",
};

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
  if (error instanceof ReputationError) {
    const { status } = PROBLEMS[error.problem];
    const headers = failureHeaders(status, authenticateChallenge(error.problem));
    return jsonResponse({ error: error.message }, { status, headers });
  }
  const known = error instanceof AppError ? error : null;
  const { status, type, challenge }: SyncReply =
    known === null ? { status: 500 } : SYNC_REPLIES[known.kind];
  const body = {
    error: known?.message ?? INTERNAL_MESSAGE,
    ...(type === undefined ? {} : { type }),
  };
  return jsonResponse(body, { status, headers: failureHeaders(status, challenge ?? null) });
}

function problemReply(error: unknown, context: FailureContext): Response {
  const { code, detail, errors, retryAfterSeconds } = readProblem(error);
  const { status, text } = problemText({
    code,
    detail,
    errors,
    requestId: context.requestId,
    timestamp: formatMs(context.nowMs),
  });
  const headers: Record<string, string> = {
    "Content-Type": "application/problem+json",
    ...failureHeaders(status, authenticateChallenge(code)),
  };
  if (retryAfterSeconds !== null) headers["Retry-After"] = String(retryAfterSeconds);
  return new Response(text, { status, headers });
}

function readProblem(error: unknown) {
  if (error instanceof ReputationError) {
    const { problem, message, fields, retryAfterSeconds } = error;
    return { code: problem, detail: message, errors: fields, retryAfterSeconds };
  }
  const code = error instanceof AppError ? PROBLEM_CODES[error.kind] : undefined;
  return {
    code: code ?? "internal_error",
    detail: error instanceof AppError && code !== undefined ? error.message : INTERNAL_MESSAGE,
    errors: [],
    retryAfterSeconds: null,
  };
}

function failureHeaders(status: number, challenge: string | null): Record<string, string> {
  return {
    ...(status === 503 ? { "Retry-After": RETRY_AFTER_SECONDS } : {}),
    ...(challenge === null ? {} : { "WWW-Authenticate": challenge }),
  };
}

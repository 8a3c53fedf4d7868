// The one place that turns failures into replies. S-7, D-5.2.
import {
  type AppErrorKind,
  DAMAGE_HINT,
  ERROR_KINDS,
  type RemotePeerErrorKind,
} from "../domain/shared/error-kinds.ts";
import { AppError, INTERNAL_MESSAGE, type InputProblem } from "../domain/shared/errors.ts";
import { withHint } from "../domain/shared/text.ts";
import { formatMs } from "../domain/shared/time.ts";
import { type Exchange, isReputationPath } from "./exchange.ts";
import { PROBLEMS, type Problem, type ProblemCode } from "./schemas/parts.ts";

interface SyncFailure {
  readonly status: number;
  /** `type` of the body. S-7. */
  readonly type?: string;
  readonly challenge?: string;
}

/** Kinds with statuses here; kinds of requests to other deployments are 500. */
type SyncKind = Exclude<AppErrorKind, ProblemCode | RemotePeerErrorKind>;

/** Kinds without a code of the reputation interface; the compiler asks for a new one. */
const SYNC_FAILURES: Partial<Record<AppErrorKind, SyncFailure>> = {
  sync_disabled: { status: 403 },
  sync_key_rejected: { status: 401 },
  sync_key_not_configured: { status: 500 },
  unknown_table: { status: 400 },
  file_failed: { status: 400 },
  batch_too_large: { status: 413 },
  integrity: { status: 422, type: "integrity_error" },
  store_unavailable: { status: 503 },
  store_outdated: { status: 500 },
  schema_conflict: { status: 500 },
  commit_failed: { status: 500 },
  lease_lost: { status: 500 },
  overloaded: { status: 503 },
  stopping: { status: 503 },
  sync_misconfigured: { status: 400, type: "config_error" },
  sync_failed: { status: 500, type: "sync_error" },
  remote_invalid: { status: 500, type: "sync_error" },
  metrics_token_rejected: { status: 401, challenge: "Bearer" },
  metrics_forbidden: { status: 403 },
} satisfies Record<SyncKind, SyncFailure>;

/** Kinds that are `unavailable` under `/v1`: only operators can help. */
const UNAVAILABLE: ReadonlySet<AppErrorKind> = new Set([
  "commit_failed",
  "store_unavailable",
  "overloaded",
  "stopping",
]);

/** For bugs: the cause is in the log only. */
const INTERNAL_ERROR = `${INTERNAL_MESSAGE} under this request's id`;
const RETRY_AFTER_SECONDS = 1;
/** Of thousands that a body may have. D-5.2.2. */
const MAX_LISTED_PROBLEMS = 100;

/** A known path with a method it does not take. D-3.11. */
export class MethodNotAllowed extends AppError {
  readonly methods: readonly string[];

  constructor(method: string, methods: readonly string[]) {
    const hint = `Use ${methods.join(", ")}`;
    super("method_not_allowed", `Method ${method} is not allowed here`, { hint });
    this.methods = methods;
  }
}

export function failureReply(error: unknown, exchange: Exchange, nowMs: number): Response {
  const { path, requestId } = exchange;
  const headers = exchange.replyHeaders();
  if (error instanceof MethodNotAllowed) headers["Allow"] = error.methods.join(", ");
  return isReputationPath(path)
    ? problemReply({ ...readProblem(error), requestId, nowMs }, headers)
    : syncErrorReply(error, headers);
}

/** `{error}`, with `type` where S-7 has one. */
function syncErrorReply(error: unknown, others: Readonly<Record<string, string>>): Response {
  if (!(error instanceof AppError)) {
    const headers = { "Content-Type": "application/json", ...others };
    return new Response(JSON.stringify({ error: INTERNAL_ERROR }), { status: 500, headers });
  }
  const { kind } = error;
  const failure = isProblemCode(kind) ? PROBLEMS[kind] : SYNC_FAILURES[kind];
  const { status, type, challenge }: SyncFailure = failure ?? { status: 500 };
  const body = {
    error: withHint(syncMessage(error), hintFor(error)),
    ...(type === undefined ? {} : { type }),
  };
  const own = failureHeaders(status, challenge, error.retryAfterSeconds);
  const headers = { "Content-Type": "application/json", ...own, ...others };
  return new Response(JSON.stringify(body), { status, headers });
}

/** The first problem, such as `table must be a string`. */
function syncMessage({ problems: [problem], message }: AppError): string {
  if (problem === undefined) return message;
  const { pointer, detail } = problem;
  return `${pointer.slice(1)} ${detail.charAt(0).toLowerCase()}${detail.slice(1)}`;
}

/** The hint for callers. For a failing service it is the general one of the kind, as the error's own may name hosts and files. */
function hintFor({ kind, hint }: AppError): string | null {
  if (!UNAVAILABLE.has(kind)) return hint;
  // Damage does not pass.
  return hint === DAMAGE_HINT ? null : ERROR_KINDS[kind].hint;
}

function isProblemCode(kind: string): kind is ProblemCode {
  return Object.hasOwn(PROBLEMS, kind);
}

function readProblem(error: unknown) {
  if (!(error instanceof AppError))
    return { code: "internal_error", detail: INTERNAL_ERROR } as const;
  const { kind, message, problems, retryAfterSeconds } = error;
  const hint = hintFor(error);
  if (isProblemCode(kind))
    return { code: kind, detail: message, hint, problems, retryAfterSeconds };
  return UNAVAILABLE.has(kind)
    ? ({ code: "unavailable", detail: message, hint } as const)
    : ({ code: "internal_error", detail: INTERNAL_ERROR } as const);
}

export interface ProblemOccurrence {
  readonly code: ProblemCode;
  /** For the caller to read; never a secret. */
  readonly detail: string;
  readonly hint?: string | null;
  readonly requestId: string;
  readonly nowMs: number;
  /** Only with `invalid_request`; empty when no single field is to blame. */
  readonly problems?: readonly InputProblem[];
  readonly retryAfterSeconds?: number | null;
}

/** The reply of RFC 9457; its `type` is a name, not an address. D-5.2. */
export function problemReply(
  occurrence: ProblemOccurrence,
  others: Readonly<Record<string, string>> = {},
): Response {
  const { code, detail, hint = null, requestId, nowMs, problems = [] } = occurrence;
  const { status, title, challenge }: Problem = PROBLEMS[code];
  const isOfWhole = code === "invalid_request" && problems.length === 0;
  const errors = isOfWhole ? [{ pointer: "", detail }] : problems.slice(0, MAX_LISTED_PROBLEMS);
  const body = {
    success: false,
    type: `urn:repsync:problem:${code}`,
    title,
    status,
    detail,
    ...(hint === null ? {} : { hint }),
    code,
    request_id: requestId,
    ...(errors.length === 0 ? {} : { errors }),
    meta: { timestamp: formatMs(nowMs), version: "v1" },
  };
  const headers = {
    "Content-Type": "application/problem+json",
    ...failureHeaders(status, challenge, occurrence.retryAfterSeconds),
    ...others,
  };
  return new Response(JSON.stringify(body), { status, headers });
}

function failureHeaders(
  status: number,
  challenge: string | undefined,
  waitSeconds: number | null | undefined,
): Record<string, string> {
  const retryAfter = waitSeconds ?? (status === 503 ? RETRY_AFTER_SECONDS : null);
  const headers: Record<string, string> = {};
  if (retryAfter !== null) headers["Retry-After"] = String(retryAfter);
  if (challenge !== undefined) headers["WWW-Authenticate"] = challenge;
  return headers;
}

// The closed list of expected failures. Anything else that is thrown is a bug.

/** Why a request to another deployment failed. */
export type RemotePeerErrorKind =
  /** No reply: name not found, connection refused or broken. */
  | "unreachable"
  /** No complete reply within the time limit. */
  | "timeout"
  /** The caller's `signal` ended the request. */
  | "aborted"
  /** A reply other than 200; its `reason` and the peer's own `error` text are kept. */
  | "status"
  /** A 200 reply that is not what the document says: no JSON, fields missing or of a wrong type. */
  | "invalid_reply"
  /** The body does not match its checksum. */
  | "checksum_mismatch";

/** What went wrong, in words that no transport knows; `http/errors.ts` gives each its status. */
export type AppErrorKind =
  | RemotePeerErrorKind
  | "invalid_request"
  | "body_too_large"
  | "not_found"
  | "method_not_allowed"
  // The store.
  | "commit_failed"
  /** It commits no batch of this size: less at once may go. D-11.2. */
  | "batch_too_large"
  | "store_unavailable"
  | "schema_conflict"
  | "lease_lost"
  // Synchronization.
  | "sync_disabled"
  | "sync_key_not_configured"
  | "sync_key_rejected"
  | "unknown_table"
  | "integrity"
  | "sync_misconfigured"
  | "sync_failed"
  | "remote_invalid"
  /** A file of the command line cannot be read or written. */
  | "file_failed"
  // Metrics.
  | "metrics_token_rejected"
  | "metrics_forbidden"
  // Reputation and accounts. D-5.2.
  | "api_key_missing"
  | "api_key_invalid"
  | "api_key_revoked"
  | "api_key_expired"
  | "token_missing"
  | "token_invalid"
  | "token_expired"
  | "credentials_invalid"
  | "account_suspended"
  | "consent_required"
  | "forbidden"
  | "profile_not_found"
  | "username_taken"
  | "email_taken"
  | "conflict"
  | "rate_limited"
  /** Too much work of one sort waits already. D-8.5. */
  | "overloaded"
  /** The service takes no further request. D-10.5. */
  | "stopping"
  | "quota_exceeded";

/** A problem of one value of a request. */
export interface InputProblem {
  /**
   * JSON pointer (RFC 6901) into a body, such as `/purpose`; a query parameter is pointed at by name alike. Empty where
   * the detail names its place itself.
   */
  readonly pointer: string;
  /** A sentence about the value, without its name where there is a pointer: `Must be true or false`. */
  readonly detail: string;
}

export interface AppErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly InputProblem[];
  readonly retryAfterSeconds?: number;
}

/** An expected failure. `message` is safe to show to the caller: no secret, path or driver text. */
export class AppError extends Error {
  override readonly name: string = "AppError";
  readonly kind: AppErrorKind;
  /** Only with `invalid_request`; empty when no single value is to blame. */
  readonly problems: readonly InputProblem[];
  /** Seconds to wait, 1 or more; null when waiting does not help. */
  readonly retryAfterSeconds: number | null;

  constructor(kind: AppErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.kind = kind;
    this.problems = options.problems ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** True for an expected failure of one of the given kinds, or of any kind when none is given. */
export function isAppError(error: unknown, ...kinds: readonly AppErrorKind[]): error is AppError {
  return error instanceof AppError && (kinds.length === 0 || kinds.includes(error.kind));
}

/** Problems that a message names: a body may have thousands. */
const MAX_NAMED_PROBLEMS = 10;

/** Throws `invalid_request` with every problem, unless there is none. The message names fields unless one is given. */
export function refuse(problems: readonly InputProblem[], message?: string): void {
  if (problems.length === 0) return;
  throw new AppError("invalid_request", message ?? fieldsMessage(problems), { problems });
}

function fieldsMessage(problems: readonly InputProblem[]): string {
  const named = problems.slice(0, MAX_NAMED_PROBLEMS).map(({ pointer }) => pointer);
  const more = problems.length > named.length ? `, and ${problems.length - named.length} more` : "";
  return `Invalid fields: ${named.join(", ")}${more}`;
}

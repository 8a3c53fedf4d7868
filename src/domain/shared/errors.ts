// The closed list of expected failures. Anything else that is thrown is a bug.

/** What went wrong, in words that no transport knows; `http/errors.ts` gives each its status. */
export type AppErrorKind =
  | "sync_disabled"
  | "sync_key_not_configured"
  | "sync_key_rejected"
  | "unknown_table"
  | "invalid_request"
  | "body_too_large"
  | "integrity"
  | "commit_failed"
  | "store_unavailable"
  | "schema_conflict"
  | "sync_misconfigured"
  | "sync_failed"
  | "remote_invalid"
  | "metrics_token_rejected"
  | "metrics_forbidden"
  | "not_found"
  | "method_not_allowed";

/** An expected failure. `message` is safe to show to the caller: no secret, path or driver text. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly kind: AppErrorKind;

  constructor(kind: AppErrorKind, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** True for an expected failure of one of the given kinds, or of any kind when none is given. */
export function isAppError(error: unknown, ...kinds: readonly AppErrorKind[]): error is AppError {
  return error instanceof AppError && (kinds.length === 0 || kinds.includes(error.kind));
}

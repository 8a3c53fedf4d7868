import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { MAX_RUN_ERROR_CHARS } from "../../../domain/shared/limits.ts";
import { cutText } from "../../../domain/sync/rows/push-result.ts";

/** What a caller may know of any failure: a configuration problem whole, another one cut. S-4.4.5, S-6.1. */
export function asSyncError(error: unknown): AppError {
  if (isAppError(error, "sync_misconfigured", "unknown_table")) return error;
  const text =
    error instanceof AppError ? error.message : "Internal error; the log has the details";
  return new AppError("sync_failed", cutText(text, MAX_RUN_ERROR_CHARS), { cause: error });
}

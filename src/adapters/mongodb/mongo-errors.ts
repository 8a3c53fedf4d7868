// What a driver error means for us, and the only place where one becomes an `AppError`.
import {
  MongoError,
  MongoNetworkError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoStalePrimaryError,
} from "mongodb";
import { AppError } from "../../domain/errors.ts";

/** Server codes of states that end by themselves: elections, restarts, conflicts, young or old snapshots. */
const PASSING_CODES: ReadonlySet<number> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  43, // CursorNotFound
  89, // NetworkTimeout
  91, // ShutdownInProgress
  112, // WriteConflict
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  237, // CursorKilled
  239, // SnapshotTooOld
  246, // SnapshotUnavailable
  251, // NoSuchTransaction
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13388, // StaleConfig
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

/** True when no server took the operation, or the connection broke before its answer. */
export function isUnreachable(error: unknown): boolean {
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoServerClosedError ||
    error instanceof MongoStalePrimaryError ||
    (error instanceof MongoError && error.name === "MongoWaitQueueTimeoutError")
  );
}

/**
 * True when the same work may succeed a moment later. Errors of a killed primary come without any of the driver's
 * labels, so the class and code count too.
 */
export function isPassing(error: unknown): boolean {
  if (isUnreachable(error) || isRerunnable(error)) return true;
  if (error instanceof MongoServerError && PASSING_CODES.has(Number(error.code))) return true;
  return error instanceof MongoError && error.hasErrorLabel("RetryableWriteError");
}

/** True when the server says that the transaction was not committed and may be run again. */
export function isRerunnable(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel("TransientTransactionError");
}

/** True when a commit may or may not have happened. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (isRerunnable(error)) return false;
  if (isPassing(error)) return true;
  return error instanceof MongoError && error.hasErrorLabel("UnknownTransactionCommitResult");
}

/** True for a refusal by the server with this code. */
export function hasCode(error: unknown, ...codes: readonly number[]): error is MongoServerError {
  return error instanceof MongoServerError && codes.includes(Number(error.code));
}

/** The server's own word for a refusal, such as `Unauthorized`; it holds no value and no address. */
export function refusalWord(error: unknown): string {
  if (!(error instanceof MongoServerError)) return "no answer";
  return error.codeName ?? `error ${String(error.code)}`;
}

/** The error as the ports allow it: an `AppError` stays, all others become `store_unavailable`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const message =
    error instanceof MongoServerError && !isPassing(error)
      ? `MongoDB refused the request: ${refusalWord(error)}`
      : "MongoDB cannot be reached";
  return new AppError("store_unavailable", message, { cause: error });
}

// Translates errors of the driver. Every `AppError` for one of them is made here.
import {
  BSON,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoStalePrimaryError,
  MongoTopologyClosedError,
} from "mongodb";
import { CHANGED_HINT } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";

/** There is no such collection. */
export const NAMESPACE_NOT_FOUND = 26;
const NOT_ON_VIEW = 166;
/** A write met a concurrent write of another transaction. */
export const WRITE_CONFLICT = 112;
/** A write met the same key in a unique index. */
export const DUPLICATE_KEY = 11000;
/** The snapshot is gone. */
export const SNAPSHOT_TOO_OLD = 239;
/** The snapshot is gone, or lacks a collection that was just made. */
export const SNAPSHOT_UNAVAILABLE = 246;
const BUSY_ROWS = "Others keep writing to rows of the batch";
/** For a MongoDB that does not answer, or refuses. */
export const SERVERS_HINT =
  "Check that most servers of the store run, and that its user may read and write";

/** Passing states: elections, restarts, conflicts, snapshots that are too new or too old. */
const PASSING_CODES: ReadonlySet<number> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  43, // CursorNotFound
  50, // MaxTimeMSExpired
  89, // NetworkTimeout
  91, // ShutdownInProgress
  WRITE_CONFLICT,
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  237, // CursorKilled
  SNAPSHOT_TOO_OLD,
  SNAPSHOT_UNAVAILABLE,
  251, // NoSuchTransaction
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11601, // Interrupted: another instance ended the session
  11602, // InterruptedDueToReplStateChange
  13388, // StaleConfig
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

/** The server never takes such a transaction as a whole. */
const TOO_LARGE_CODES = [
  146, // ExceededMemoryLimit
  257, // TransactionTooLarge
  290, // TransactionExceededLifetimeLimitSeconds
  388, // TransactionTooLargeForCache
];

/** The actual error: in a bulk write the driver wraps even a lost connection as an answer. */
export function innerError(error: unknown): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error;
  const inner: unknown = error.errorResponse;
  return inner instanceof Error ? inner : error;
}

/** True when no server took the operation, or the connection broke before the answer. */
function isUnreachable(error: unknown): boolean {
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoServerClosedError ||
    error instanceof MongoStalePrimaryError ||
    (error instanceof MongoError && error.name === "MongoWaitQueueTimeoutError")
  );
}

/** True when the same work may succeed a moment later. A killed primary causes errors without labels, so class and code count too. */
export function isPassing(error: unknown): boolean {
  if (isUnreachable(error) || isRerunnable(error)) return true;
  if (error instanceof MongoServerError && PASSING_CODES.has(Number(error.code))) return true;
  return error instanceof MongoError && error.hasErrorLabel("RetryableWriteError");
}

/** True when the server has not committed the transaction, and it may run again. */
function isRerunnable(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel("TransientTransactionError");
}

/** True when a commit may have happened: only an answer of the server can tell. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof MongoServerError)) return true;
  if (isRerunnable(error)) return false;
  return isPassing(error) || error.hasErrorLabel("UnknownTransactionCommitResult");
}

/** True when this process has closed the client. */
export function isClosed(error: unknown): boolean {
  return (
    error instanceof MongoClientClosedError ||
    error instanceof MongoExpiredSessionError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    (error instanceof MongoError && error.name === "MongoPoolClosedError")
  );
}

/** True when connections lack a user, or were closed for that. */
export function isSignedOut(error: unknown): boolean {
  const isRefused = error instanceof MongoServerError;
  return isClosed(error) || (isRefused && error.message.endsWith(" requires authentication"));
}

/** True for an answer of the server with one of the codes. */
export function hasCode(error: unknown, ...codes: readonly number[]): error is MongoServerError {
  return error instanceof MongoServerError && codes.includes(Number(error.code));
}

/** The result, or null for an answer of the server with one of the codes. */
export async function orNull<T>(work: Promise<T>, ...codes: readonly number[]): Promise<T | null> {
  return await work.catch((error) => {
    if (hasCode(error, ...codes)) return null;
    throw error;
  });
}

/** Every hint names an index that a start made sure of. */
function lacksIndex({ message }: MongoServerError): boolean {
  return message.includes("hint provided");
}

/** The server's name of an error, such as `Unauthorized`; holds no value and no address. */
function refusalWord(error: unknown): string {
  if (!(error instanceof MongoServerError)) return "no answer";
  if (lacksIndex(error)) return "an index of repsync is missing";
  return error.codeName ?? `error ${String(error.code)}`;
}

/** Translates the error of a commit of rows: unless the outcome is unknown, nothing was written. `isDivisible`: parts may be tried. */
export function toRowsError(error: unknown, isDivisible: boolean): AppError {
  if (isDivisible && hasCode(innerError(error), WRITE_CONFLICT)) {
    return new AppError("batch_too_large", BUSY_ROWS, { cause: error });
  }
  if (error instanceof AppError || isUnreachable(error) || isClosed(error)) {
    return toAppError(error);
  }
  if (hasCode(error, ...TOO_LARGE_CODES)) {
    const text = `The batch is too large for one transaction of this MongoDB (${refusalWord(error)})`;
    return new AppError("batch_too_large", text, { cause: error });
  }
  const problem = isPassing(error)
    ? "MongoDB could not commit the batch in time"
    : "MongoDB refused the batch";
  return new AppError("commit_failed", `${problem}: ${refusalWord(error)}`, { cause: error });
}

/** Keeps an `AppError`; all other errors become `store_unavailable`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const inner = innerError(error);
  const isRefusal = inner instanceof MongoServerError && !isPassing(inner);
  const message = isClosed(inner)
    ? "The connection to MongoDB was closed"
    : isRefusal
      ? `MongoDB refused the request: ${refusalWord(inner)}`
      : "MongoDB cannot be reached";
  const isChanged =
    isRefusal && (hasCode(inner, NAMESPACE_NOT_FOUND, NOT_ON_VIEW) || lacksIndex(inner));
  const hint = isChanged ? CHANGED_HINT : SERVERS_HINT;
  return new AppError("store_unavailable", message, { cause: error, hint });
}

/** An error of the driver as `toAppError` gives it; any other as it is. */
export function driverFailure(error: unknown): unknown {
  const isOfDriver = error instanceof MongoError || error instanceof BSON.BSONError;
  return isOfDriver ? toAppError(error) : error;
}

/** Throws errors of the work as `driverFailure`. */
export async function asAppErrors<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error) => {
    throw driverFailure(error);
  });
}

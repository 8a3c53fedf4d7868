// Expected failures. Anything else that is thrown is a bug.
import { type AppErrorKind, ERROR_KINDS } from "./error-kinds.ts";
import { cutText, withHint } from "./text.ts";

export interface InputProblem {
  /** JSON pointer (RFC 6901), such as `/purpose`, also of a query parameter; empty where the detail names its place. */
  readonly pointer: string;
  /** A sentence about the value, without its name where there is a pointer: `Must be true or false`. */
  readonly detail: string;
}

export interface AppErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly InputProblem[];
  readonly retryAfterSeconds?: number;
  /** In place of the hint of its kind; null for none. */
  readonly hint?: string | null;
  readonly isRecoverable?: boolean;
}

/** An expected failure. `message` is safe to show to the caller: no secret, path or driver text. `hint` says what to do. */
export class AppError extends Error {
  override readonly name: string = "AppError";
  readonly kind: AppErrorKind;
  /** Only with `invalid_request`; empty when no single value is to blame. */
  readonly problems: readonly InputProblem[];
  /** Seconds to wait, 1 or more; null when waiting does not help. */
  readonly retryAfterSeconds: number | null;
  /** A sentence without its full stop; null where the message says all there is. */
  readonly hint: string | null;
  /** True where a retry may mend it. */
  readonly isRecoverable: boolean;

  constructor(kind: AppErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.kind = kind;
    this.problems = options.problems ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    const { hint, isRecoverable } = ERROR_KINDS[kind];
    const wait = this.retryAfterSeconds;
    const usual = wait === null ? hint : `Try again in ${wait} s`;
    this.hint = options.hint === undefined ? usual : options.hint;
    this.isRecoverable = options.isRecoverable ?? isRecoverable;
  }

  /** Message and hint, for places that show one text. */
  get text(): string {
    return withHint(this.message, this.hint);
  }

  /** The message, cut so that `text` would have at most `maxChars` characters. */
  messageWithin(maxChars: number): string {
    return cutText(this.message, maxChars - withHint("", this.hint).length);
  }
}

/** True for an expected failure of one of the given kinds, or of any kind when none is given. */
export function isAppError(error: unknown, ...kinds: readonly AppErrorKind[]): error is AppError {
  return error instanceof AppError && (kinds.length === 0 || kinds.includes(error.kind));
}

/** What people are told of a bug. */
export const INTERNAL_MESSAGE = "Internal error; the log has the details";

/** The result of work, or another value where it throws. */
export function orElse<Result, Otherwise>(
  otherwise: Otherwise,
  work: () => Result,
): Result | Otherwise {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** The code of an error of the system or a library, such as `ENOENT`; null for none, and for a number. */
export function codeOf(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" ? code : null;
}

/** Codes of file systems without hard links. */
export const NO_LINKS = new Set<unknown>(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Why the system refuses something, in plain words: its own message would name paths. */
export function systemReason(error: unknown): string {
  const code = codeOf(error) ?? "unknown reason";
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file or folder",
    ENOTDIR: "a part of its path is no folder",
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a folder",
    ENOSPC: "the disk is full",
    EDQUOT: "the disk is full",
    EROFS: "the disk is read-only",
    ENAMETOOLONG: "its name is too long",
    ELOOP: "its links lead in a circle",
    EFBIG: "the file is larger than the system allows",
    EMFILE: "too many files are open",
    ENFILE: "too many files are open",
    EIO: "the disk failed",
    EPIPE: "the reader has gone",
  };
  return reasons[code] ?? code;
}

/** A store has taken longer than a caller of `/v1` waits. D-8.3. */
export function storeTooLate(): AppError {
  return new AppError("store_unavailable", "The store did not answer in time");
}

/** Throws for a bug: what another part of the program promises, as the sentence says, is not so. */
export function assert(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(sentence);
}

/** Problems that a message names: a body may have thousands. */
const MAX_NAMED_PROBLEMS = 10;

/** Throws `invalid_request` with every problem, if there is any. Without `message` the message names the fields. */
export function refuse(problems: readonly InputProblem[], message?: string, hint?: string): void {
  if (problems.length === 0) return;
  const options = { problems, hint: hint ?? null };
  throw new AppError("invalid_request", message ?? fieldsMessage(problems), options);
}

function fieldsMessage(problems: readonly InputProblem[]): string {
  const named = problems.slice(0, MAX_NAMED_PROBLEMS).map(({ pointer }) => pointer);
  const more = problems.length > named.length ? `, and ${problems.length - named.length} more` : "";
  return `Invalid fields: ${named.join(", ")}${more}`;
}

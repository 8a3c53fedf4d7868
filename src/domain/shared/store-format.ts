// The format of what a store holds: by it a program knows whether it may read and write a store. D-10.7.
import { AppError, codeOf, systemReason } from "./errors.ts";

/** The format of this program. Raise it with what an earlier program would misread or damage, and not for new optional fields. */
export const STORE_FORMAT = 2;

/** The last version that reads earlier formats. */
const LAST_READER = "0.1.0";

export type StoreFacts = ReadonlyMap<StoreFactName, string>;

export type StoreFactName =
  /** Its format, as a whole number. */
  | "format"
  /** The id of the deployment, made once, and anew by a restore. D-10.4. */
  | "deployment_id"
  /** A digest of the collections of documents that were made last: a start that finds its own makes none. */
  | "collections"
  /** The command that is filling the store, `restore` or `move`: until it has ended nothing may use the store. */
  | "filled_by";

export interface StoreIdentity {
  /** The id of the deployment, the same for all instances. D-10.4. */
  readonly deploymentId: string;
  /** True when there was no store before, such as in a file of 0 bytes. D-11.4. */
  readonly isNew: boolean;
}

/** Throws `store_outdated` for an earlier format, `invalid_request` for another one or a store that was not filled to its end. */
export function checkFormat(facts: StoreFacts, isNew: boolean): void {
  const filledBy = facts.get("filled_by");
  if (filledBy !== undefined) {
    const text = `The store was not filled to its end by repsync ${filledBy}, and nothing of it may be used`;
    const hint = "Run that again, or set STORAGE_URL to an empty store";
    throw new AppError("invalid_request", text, { hint });
  }
  const text = facts.get("format");
  if (text === String(STORE_FORMAT) || (text === undefined && isNew)) return;
  throw otherFormat(text ?? "0");
}

/** Format 0 is of stores from before formats had numbers. */
function otherFormat(text: string): AppError {
  const format = /^\d{1,9}$/.test(text) ? Number(text) : null;
  if (format !== null && format < STORE_FORMAT) {
    const problem = `The store has format ${format}, which repsync ${LAST_READER} is the last to read, and this program knows ${STORE_FORMAT} alone`;
    return new AppError("store_outdated", problem);
  }
  const named = format === null ? "a format that is no number" : `format ${format}`;
  return new AppError(
    "invalid_request",
    `The store has ${named}, and this program knows ${STORE_FORMAT}`,
    { hint: "Start the version of repsync that wrote it, or a later one" },
  );
}

/** Throws `invalid_request` for a backup of another format; `Infinity` is one whose form is not known. */
export function checkBackupFormat(format: number): void {
  if (format === STORE_FORMAT) return;
  const [text, hint] =
    format < STORE_FORMAT
      ? [
          `The backup has format ${format}, which repsync ${LAST_READER} is the last to read`,
          "Restore it with that version",
        ]
      : [
          "A later version of repsync made the backup",
          "Restore it with that version or a later one",
        ];
  throw new AppError("invalid_request", text, { hint });
}

export function backupDamaged(cause?: unknown): AppError {
  const text = "The backup is damaged: it does not hold what it held at first";
  return new AppError("file_failed", text, { cause });
}

/** The error for a file of a store or a backup that cannot be written, or read; any other error stays. */
export function fileFailure(what: "The backup" | "The store", cause: unknown): unknown {
  if (cause instanceof AppError || codeOf(cause) === null) return cause;
  const text = `${what} cannot be written: ${systemReason(cause)}`;
  return new AppError("file_failed", text, { cause });
}

/** Seconds for which a process that was killed still counts among those that use a database. */
export const HOLD_SECONDS = 15;
export const RENEW_HOLD_MS = 4_000;

/** The error for a store in use by another process; a killed one holds it for `seconds` more. */
export function storeHeld(seconds = HOLD_SECONDS, cause?: unknown): AppError {
  const before = seconds === 0 ? "" : `, or did within the last ${seconds} s`;
  const text = `A running service, or another command, holds the store${before}`;
  return new AppError("invalid_request", text, { cause, hint: "Stop it first" });
}

export function storeNotEmpty(what: string): AppError {
  const hint = "Name an empty one as STORAGE_URL";
  return new AppError("invalid_request", `The store to be filled is not empty: ${what}`, { hint });
}

/** The begin of an archive; a backup of SQLite is a SQLite file. */
export const ARCHIVE_MAGIC = "repsync backup 2\n";

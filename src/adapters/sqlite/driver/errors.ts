// Messages for SQLite's result codes, without paths or texts of the driver.
import { CHANGED_HINT, DAMAGE_HINT } from "../../../domain/shared/error-kinds.ts";
import { AppError, type AppErrorOptions } from "../../../domain/shared/errors.ts";

const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const IO_ERROR = 10;
const DAMAGED = 11;
const NO_DATABASE = 26;
/** The extended code of what a trigger raises. */
const RAISED = 1811;

const STORE_REASONS: ReadonlyMap<number, string> = new Map([
  [ERROR, "a table is not as it was prepared"],
  [BUSY, "another process is using it"],
  [LOCKED, "another process is using it"],
  [7, "out of memory"],
  [8, "it is read-only"],
  [IO_ERROR, "the disk failed"],
  [DAMAGED, "the file is damaged"],
  [13, "the disk is full"],
  [14, "the file cannot be opened"],
  [19, "a rule that it checks at the end is broken"],
  [NO_DATABASE, "the file is not a database"],
]);

const RECORD_REASONS: ReadonlyMap<number, string> = new Map([
  [18, "the record is too large for the database"],
  [19, "the record breaks a rule that the table has in the database"],
  [20, "a value does not fit the table in the database"],
]);

export const FILE_HINT =
  "Check that the file of the store, with its -wal and -shm, can be read and written, and that its disk has room";

/** By result code; `FILE_HINT` for the others. */
const HINTS: ReadonlyMap<number, string> = new Map([
  [ERROR, CHANGED_HINT],
  [DAMAGED, DAMAGE_HINT],
  [
    NO_DATABASE,
    "Check that STORAGE_URL names the file of a store: one that is spoiled comes back from the last backup",
  ],
]);

/** The low byte of an extended result code: 5 is SQLITE_BUSY. */
function primary(resultCode: number | null): number {
  return (resultCode ?? 0) & 0xff;
}

export type FailureKind = "store_unavailable" | "commit_failed";

/** True when another process holds the file, and the same work may soon succeed. */
export function isBusy(resultCode: number | null): boolean {
  const code = primary(resultCode);
  return code === BUSY || code === LOCKED;
}

/** True when the file holds bytes that SQLite never wrote. */
export function isDamage(resultCode: number | null): boolean {
  const code = primary(resultCode);
  return code === DAMAGED || code === NO_DATABASE;
}

/** Why SQLite, or a trigger in its own words, refused one record; null for every other failure. */
export function recordReason(resultCode: number | null, error: unknown): string | null {
  const raised = resultCode === RAISED && error instanceof Error ? error.message : "";
  return raised || (RECORD_REASONS.get(primary(resultCode)) ?? null);
}

/** Translates an error of the driver; any other error stays as it is. */
export function storeError(kind: FailureKind, resultCode: number | null, cause: unknown): unknown {
  if (resultCode === null || cause instanceof AppError) return cause;
  const code = primary(resultCode);
  const reason = STORE_REASONS.get(code) ?? `result code ${code}`;
  if (isBusy(resultCode)) return unavailable(reason, { cause });
  const hint = HINTS.get(code) ?? FILE_HINT;
  if (kind === "store_unavailable") return unavailable(reason, { cause, hint });
  return new AppError("commit_failed", `The database wrote nothing: ${reason}`, { cause, hint });
}

function unavailable(reason: string, options: AppErrorOptions): AppError {
  return new AppError("store_unavailable", `The database is unavailable: ${reason}`, options);
}

// The format of what a store holds: by it a program knows whether it may read and write a store. D-10.7.
import { AppError } from "./errors.ts";

/**
 * The format that this program writes. Raise it with a change that a program of before would misread or damage; a table
 * or column that such a program leaves alone is none.
 */
export const STORE_FORMAT = 1;

/** What a store tells of itself, as names and texts. */
export type StoreFacts = ReadonlyMap<StoreFactName, string>;

export type StoreFactName =
  /** Its format, as a whole number. */
  | "format"
  /** The id of the deployment, made once, and anew by a restore. D-10.4. */
  | "deployment_id"
  /** What is filling the store, `restore` or `move`: until it has ended nothing may use the store. */
  | "filled_by";

/** How a store was opened. */
export interface StoreIdentity {
  /** The id of the deployment, the same for all instances. D-10.4. */
  readonly deploymentId: string;
  /** The format that this start has changed; null when it changed none. D-10.7. */
  readonly formerFormat: number | null;
  /** True when there was no store before, such as in a file of 0 bytes. D-11.4. */
  readonly isNew: boolean;
}

/**
 * The format of a store: 0 of one from before formats had numbers, null of a new one. Throws `invalid_request` when this
 * program must not use the store: a later program wrote it, or it was never filled to its end.
 */
export function readFormat(facts: StoreFacts, isNew: boolean): number | null {
  const filledBy = facts.get("filled_by");
  if (filledBy !== undefined) throw new AppError("invalid_request", unfinishedText(filledBy));
  const text = facts.get("format");
  if (text === undefined) return isNew ? null : 0;
  const format = /^\d{1,9}$/.test(text) ? Number(text) : null;
  if (format !== null && format <= STORE_FORMAT) return format;
  const named = format === null ? "a format that is no number" : `format ${format}`;
  throw new AppError(
    "invalid_request",
    `The store has ${named}, and this program knows ${STORE_FORMAT}: start the version of repsync that wrote it, or a later one`,
  );
}

/** What a start says that would change the format of a store which a program of the former one uses. */
export const HELD_STORE =
  "The store has an earlier format, and another program has it open, such as an earlier version of repsync: stop every program that uses it, then start again";

/**
 * Whether the format has to be changed, which a start may do alone. Throws `store_unavailable` where it has to and must not be.
 * D-11.4.
 */
export function mayChangeFormat(format: number | null, changesFormat: boolean): boolean {
  if (format === null || format === STORE_FORMAT) return false;
  if (changesFormat) return true;
  throw new AppError(
    "store_unavailable",
    `The store has format ${format}, and this program writes ${STORE_FORMAT}: start the service once, which changes it; commands leave it as it is`,
  );
}

/** Advice of `restore` and `move` in the words that fit both. */
function unfinishedText(filledBy: string): string {
  return `The store was not filled to its end by repsync ${filledBy}, and nothing of it may be used: run that again, or set STORAGE_URL to an empty store`;
}

/** The line that tells a change of the format. */
export function formatChangeText(formerFormat: number): string {
  return `The format of the store was changed from ${formerFormat} to ${STORE_FORMAT}: older versions of repsync refuse it from now on`;
}

/** How a backup of a MongoDB store begins; one of SQLite is a SQLite file. */
export const BACKUP_MAGIC = "repsync backup 1\n";

import type { JsonObject } from "../../../domain/shared/json.ts";

/**
 * Why a row stayed: the end does not update the columns that differ, refused it, or has it newer or deleted by now; the
 * two versions differ in what is the owner's only (D-8.1); or nobody knows which one is newer (D-11.9).
 */
export type KeptReason =
  | "update_columns"
  | "refused"
  | "newer"
  | "deletes_unknown"
  | "owner"
  | "no_owner";

export interface KeptRow {
  readonly key: JsonObject;
  readonly reason: KeptReason;
}

/** Rows that stayed, and the first of them as far as they are known. */
export interface KeptRows {
  readonly count: number;
  readonly examples: readonly KeptRow[];
}

export const NONE_KEPT: KeptRows = { count: 0, examples: [] };

// The reply of `/deleted/{table}`. D-7.6.
import { parseSince } from "../../shared/time.ts";
import { readPageLimit } from "./page.ts";
import type { Tombstone } from "./tombstone.ts";

/** A page of tombstones, in its field order. */
export interface DeletedPage {
  readonly table: string;
  /** In the order in which they became visible. */
  readonly items: readonly Tombstone[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** Where the next run goes on; empty for a table without `deletes`, which means the start. */
  readonly cursor: string;
  /** Since when the record is complete. */
  readonly earliestAvailable: string;
  readonly serverTime: string;
}

/** The query as text; null when absent. */
export interface DeletedQuery {
  readonly since: string | null;
  readonly limit: string | null;
  readonly cursor: string | null;
}

/** Reads the query as that of a pull is read: what cannot be used is ignored. The store alone knows its cursors. */
export function readDeletedQuery({ since, limit, cursor }: DeletedQuery, maxRows: number) {
  return {
    after: cursor || null,
    sinceTime: since === null ? null : parseSince(since),
    limitRows: readPageLimit(limit, maxRows),
  };
}

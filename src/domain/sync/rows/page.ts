// Requests for, and bodies of, pull pages. S-2.2, S-4.1.
import { DEFAULT_PAGE_ROWS } from "../../shared/limits.ts";
import { parseSince } from "../../shared/time.ts";
import type { Row, Table } from "../table/table.ts";
import type { Tombstone } from "./tombstone.ts";

/** A page as a caller asked for it, with the defaults and caps of S-4.1 applied. */
interface PageRequest {
  /** `since` as received, after percent decoding; null when not given. Echoed, never used. */
  readonly since: string | null;
  /** Canonical time of `since`; null for no filter: not given, empty, unparseable, or no timestamp column. */
  readonly sinceTime: string | null;
  /** 0 or more. */
  readonly offsetRows: number;
  /** Rows of the page, 1 to the configured maximum. */
  readonly limitRows: number;
}

/** The pull page of S-2.2, in its field order. */
export interface PullPage {
  readonly table: string;
  readonly since: string | null;
  readonly count: number;
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
  readonly hasMore: boolean;
  readonly nextOffset: number | null;
  readonly records: readonly Row[];
}

/** The three query parameters as text, and the `columnsHash` that the remote goes by; null when absent. */
export interface PageQuery {
  readonly since: string | null;
  readonly offset: string | null;
  readonly limit: string | null;
  readonly columns?: string | null;
}

/** Reads the query of a pull. Never fails: what cannot be used falls back to its default. S-4.1, D-3.2. */
export function readPageRequest(table: Table, query: PageQuery, maxRows: number): PageRequest {
  const { since } = query;
  return {
    since,
    sinceTime: table.timestampColumn === null || since === null ? null : parseSince(since),
    offsetRows: Math.max(0, parseInteger(query.offset) ?? 0),
    limitRows: readPageLimit(query.limit, maxRows),
  };
}

/** The size of a page; the default for text that is no positive integer. */
function readPageLimit(text: string | null, maxRows: number): number {
  const limit = parseInteger(text) ?? DEFAULT_PAGE_ROWS;
  return Math.min(maxRows, limit < 1 ? DEFAULT_PAGE_ROWS : limit);
}

/** `totalRows` counts all rows that match the filter. A page that was cut has the number of its rows as its limit. D-7.9. */
export function buildPullPage(
  table: Table,
  request: PageRequest,
  rows: readonly Row[],
  totalRows: number,
): PullPage {
  const { offsetRows } = request;
  const isCut = rows.length > 0 && offsetRows + rows.length < totalRows;
  const limit = isCut ? rows.length : request.limitRows;
  const end = offsetRows + limit;
  const hasMore = end < totalRows;
  return {
    table: table.name,
    since: request.since,
    count: rows.length,
    total: totalRows,
    offset: offsetRows,
    limit,
    hasMore,
    nextOffset: hasMore ? end : null,
    records: rows,
  };
}

/** An optional sign and digits; null for anything else. At most the greatest that a number holds exactly. D-3.2. */
function parseInteger(text: string | null): number | null {
  if (text === null || !/^[+-]?\d+$/.test(text)) return null;
  return Math.min(Number.MAX_SAFE_INTEGER, Number(text));
}

// The reply of `/deleted/{table}`. D-7.6.

/** A page of tombstones, in its field order. */
export interface DeletedPage {
  readonly table: string;
  /** Tombstones in the order in which they became visible. */
  readonly items: readonly Tombstone[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** The cursor from which the next run goes on; empty for a table without `deletes`, which means the start. */
  readonly cursor: string;
  /** The time since which the record is complete. */
  readonly earliestAvailable: string;
  readonly serverTime: string;
}

/** The query as text; null when absent. */
export interface DeletedQuery {
  readonly since: string | null;
  readonly limit: string | null;
  readonly cursor: string | null;
}

/** Reads the query as a pull's: unusable parameters are ignored. Only the store can check its cursors. */
export function readDeletedQuery({ since, limit, cursor }: DeletedQuery, maxRows: number) {
  return {
    after: cursor || null,
    sinceTime: since === null ? null : parseSince(since),
    limitRows: readPageLimit(limit, maxRows),
  };
}

// Requests for, and bodies of, pull pages. S-2.2, S-4.1.
import { DEFAULT_PAGE_ROWS } from "../../shared/limits.ts";
import { parseSince } from "../../shared/time.ts";
import type { Row, Table } from "../table/table.ts";

/** One page of a table as a caller asked for it, with the defaults and caps of S-4.1 applied. */
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

/** The three query parameters as text; null when absent. */
export interface PageQuery {
  readonly since: string | null;
  readonly offset: string | null;
  readonly limit: string | null;
}

/** Reads the query of a pull. Never fails: what cannot be used falls back to its default. S-4.1, D-3.2. */
export function readPageRequest(table: Table, query: PageQuery, maxRows: number): PageRequest {
  const filters = table.timestampColumn !== null && query.since !== null && query.since !== "";
  const limit = parseInteger(query.limit) ?? DEFAULT_PAGE_ROWS;
  return {
    since: query.since,
    sinceTime: filters ? parseSince(query.since) : null,
    offsetRows: Math.max(0, parseInteger(query.offset) ?? 0),
    limitRows: Math.min(maxRows, limit < 1 ? DEFAULT_PAGE_ROWS : limit),
  };
}

/** Puts a page together from what the store read. `totalRows` counts all rows that match the filter. */
export function buildPullPage(
  table: Table,
  request: PageRequest,
  rows: readonly Row[],
  totalRows: number,
): PullPage {
  const end = request.offsetRows + request.limitRows;
  const hasMore = end < totalRows;
  return {
    table: table.name,
    since: request.since,
    count: rows.length,
    total: totalRows,
    offset: request.offsetRows,
    limit: request.limitRows,
    hasMore: hasMore,
    nextOffset: hasMore ? end : null,
    records: rows,
  };
}

/** An optional sign and digits; null for anything else. Beyond what a number holds exactly: the nearest end. D-3.2. */
function parseInteger(text: string | null): number | null {
  if (text === null || !/^[+-]?\d+$/.test(text)) return null;
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)));
}

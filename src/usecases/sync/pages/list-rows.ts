// Tables and their rows for an administrator to look at. D-9.5.
import { type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import { isJsonObject, type JsonObject, parseJsonOr } from "../../../domain/shared/json.ts";
import { MAX_CURSOR_CHARS, MAX_SHOWN_ROWS_BYTES } from "../../../domain/shared/limits.ts";
import { type ListParameters, readListQuery } from "../../../domain/shared/list-query.ts";
import { parseSince } from "../../../domain/shared/time.ts";
import { readKeyByHand } from "../../../domain/sync/by-hand/row-edit.ts";
import {
  ROW_ORDERS,
  type RowFilter,
  type RowOrder,
  readRowFilter,
  shownRow,
} from "../../../domain/sync/by-hand/shown-rows.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import { isSince } from "../../../domain/sync/rows/row-time.ts";
import { rowsIn } from "../../../domain/sync/run/run.ts";
import { findTable, type Row, type Table } from "../../../domain/sync/table/table.ts";
import { describeTable } from "../../../domain/sync/table/table-schema.ts";
import type { RowsPage, RowsQuery, TableStore } from "../../../ports/tables/table-store.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { readSyncStatus, type SyncStatusDeps } from "../shared/sync-status.ts";

/** Every table of the registry with its rows and columns, with sync disabled too. D-9.5. */
export async function listTables(deps: SyncStatusDeps) {
  const { tableCounts } = await readSyncStatus({ ...deps, isSyncEnabled: true });
  const tables = Array.from(deps.registry.values(), (table) => {
    const { timestampColumn, upsertKey, columns, deletes, direction } = describeTable(table);
    const rows = rowsIn(tableCounts, table.name);
    const { name, entry } = table;
    return { table: name, rows, timestampColumn, upsertKey, columns, deletes, direction, entry };
  });
  return { tables };
}

/** Parameters as texts; null, absent and empty mean none. */
export interface ListRowsQuery extends ListParameters {
  /** Only rows whose timestamp is at or after this time. */
  readonly since?: string | null;
  /** Only the row with this key: the text of a key of one column, or a JSON object with every part. */
  readonly key?: string | null;
  /** Only rows that all of these `column:text` fit: `readRowFilter`. */
  readonly where?: readonly string[] | null;
  /** One of `ROW_ORDERS`. */
  readonly order?: string | null;
}

interface RowList {
  readonly table: string;
  /** The rows as `shownRow` shows them. */
  readonly items: readonly JsonObject[];
  /** Null after the last part. */
  readonly nextCursor: string | null;
  /** Rows that match `since` and `key`; null where the table would have to be searched. */
  readonly total: number | null;
}

const CURSOR = new RegExp(`^[\\w-]{1,${MAX_CURSOR_CHARS}}$`);
/** The time for which one request searches a table. D-14.5. */
const LOOKING_MS = 300;
/** Rows of the first read of a search, and of later ones at most. */
const FIRST_LOOKED_ROWS = 250;
const MAX_LOOKED_ROWS = 2_000;

/**
 * Lists rows. A filtered list searches the store for 300 ms: its part may be short, even empty, with a cursor. Throws
 * `unknown_table`, `invalid_request`, `store_unavailable`.
 */
export async function listRows(
  { registry, tables, clock }: Pick<SyncDeps, "registry" | "tables" | "clock">,
  tableName: string,
  query: ListRowsQuery,
): Promise<RowList> {
  const table = findTable(registry, tableName);
  const problems: InputProblem[] = [];
  const { limit, cursor } = readListQuery(query, CURSOR, problems);
  const sinceTime = readSince(table, query.since || null, problems);
  const record = query.key
    ? readKey(table, query.key, problems)
    : keyAmong(table, query.where ?? []);
  const order = readOrder(query.order || "time", problems);
  const filters = readFilters(table, query.where ?? [], problems);
  refuse(problems);
  // In the order of keys the store does not filter by time.
  if (sinceTime !== null && order.endsWith("key")) {
    filters.push((row) => isSince(table, row, sinceTime));
  }
  const fits: RowFilter = (row) => filters.every((filter) => filter(row));
  if (record !== null) {
    const row = await findRow(tables, table, record);
    const isFound = row !== null && isSince(table, row, sinceTime) && fits(row);
    const items = isFound ? [shownRow(row)] : [];
    return { table: table.name, items, nextCursor: null, total: items.length };
  }
  const wanted = { from: { cursor }, order, sinceTime, limitRows: limit } as const;
  const part =
    filters.length > 0
      ? await lookThrough({ tables, clock }, table, wanted, fits)
      : await tables.page(table, { ...wanted, ...SHOWN, hasTotal: true });
  const items = part.rows.map((row) => shownRow(row));
  return { table: table.name, items, nextCursor: part.cursor, total: part.totalRows };
}

const SHOWN = { maxJsonBytes: MAX_SHOWN_ROWS_BYTES } as const;

/** Reads until enough rows fit, none is left, or the time is over. */
async function lookThrough(
  { tables, clock }: Pick<SyncDeps, "tables" | "clock">,
  table: Table,
  wanted: RowsQuery & { readonly from: { readonly cursor: string | null } },
  fits: RowFilter,
): Promise<RowsPage> {
  const endMs = clock.monotonicMs() + LOOKING_MS;
  const found: Row[] = [];
  let { cursor } = wanted.from;
  let limitRows = FIRST_LOOKED_ROWS;
  for (;;) {
    const page = await tables.page(table, { ...wanted, ...SHOWN, from: { cursor }, limitRows });
    const taken = takenRows(page.rows, found, wanted.limitRows, fits);
    if (taken === 0 && page.rows.length > 0) break;
    // A cursor stands behind a whole page only: the page is read again with as many rows as have room.
    limitRows = taken < page.rows.length ? taken : Math.min(limitRows * 2, MAX_LOOKED_ROWS);
    if (taken < page.rows.length) continue;
    found.push(...page.rows.filter(fits));
    cursor = page.cursor;
    const isOver = found.length >= wanted.limitRows || clock.monotonicMs() >= endMs;
    if (cursor === null || isOver) break;
  }
  return { rows: found, totalRows: null, cursor };
}

/** The rows of a page that have room in the list: up to the last one wanted, and within its bytes. */
function takenRows(
  rows: readonly Row[],
  found: readonly Row[],
  limitRows: number,
  fits: RowFilter,
): number {
  const size = new PageSize(MAX_SHOWN_ROWS_BYTES);
  for (const row of found) size.takes(row);
  let count = found.length;
  for (const [i, row] of rows.entries()) {
    if (!fits(row)) continue;
    if (!size.takes(row)) return i;
    if (++count === limitRows) return i + 1;
  }
  return rows.length;
}

function readOrder(text: string, problems: InputProblem[]): RowOrder {
  const order = ROW_ORDERS.find((one) => one === text);
  if (order !== undefined) return order;
  problems.push({ pointer: "/order", detail: `Must be one of ${ROW_ORDERS.join(", ")}` });
  return "time";
}

function readFilters(
  table: Table,
  texts: readonly string[],
  problems: InputProblem[],
): RowFilter[] {
  return texts.flatMap((text) => {
    const { filter, problem } = readRowFilter(table, text);
    if (problem !== null) problems.push({ pointer: "/where", detail: problem });
    return filter ?? [];
  });
}

/** Null for no filter; a table without timestamps has none. */
function readSince(table: Table, text: string | null, problems: InputProblem[]): string | null {
  if (text === null) return null;
  const time = parseSince(text);
  if (time === null) problems.push({ pointer: "/since", detail: "Must be a date and time" });
  return table.timestampColumn === null ? null : time;
}

function readKey(table: Table, text: string, problems: InputProblem[]): JsonObject | null {
  const names = table.keyColumns.map(({ name }) => name);
  const parts = parseJsonOr(text, null);
  const hasParts =
    isJsonObject(parts) &&
    Object.keys(parts).length === names.length &&
    names.every((name) => Object.hasOwn(parts, name));
  if (hasParts) return parts;
  const [only] = table.keyColumns;
  if (names.length === 1 && only !== undefined) return { [only.name]: text };
  const detail = `Must be a JSON object with every part of the key: ${names.join(", ")}`;
  problems.push({ pointer: "/key", detail });
  return null;
}

const WHOLE_NUMBER = /^(?:0|-?[1-9]\d*)$/;

/** The key of whole numbers that filters name in full; otherwise null. */
function keyAmong({ keyColumns }: Table, where: readonly string[]): JsonObject | null {
  const named = keyColumns.map(({ name, type }) => {
    const text = where.find((each) => each.startsWith(`${name}:`))?.slice(name.length + 1) ?? "";
    const isExact = (type === "integer" || type === "bigint") && WHOLE_NUMBER.test(text);
    return [name, isExact ? text : null] as const;
  });
  return named.every(([, text]) => text !== null) ? Object.fromEntries(named) : null;
}

/** Null also for a key that no row can have. */
async function findRow(tables: TableStore, table: Table, record: JsonObject): Promise<Row | null> {
  const key = readKeyByHand(table, record);
  if (key === null) return null;
  const [row = null] = await tables.byKeys(table, [key], "page");
  return row;
}

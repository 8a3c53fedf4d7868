// Rows of a table for an administrator to look at. D-9.5.
import { type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../domain/shared/json.ts";
import { MAX_CURSOR_CHARS, MAX_SHOWN_ROWS_BYTES } from "../../../domain/shared/limits.ts";
import { type ListParameters, readListQuery } from "../../../domain/shared/list-query.ts";
import { compareDateTimes, parseSince } from "../../../domain/shared/time.ts";
import { convertPosition, keyRow } from "../../../domain/sync/rows/row-key.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { shownRow } from "../../../domain/sync/rows/shown-row.ts";
import {
  findTable,
  type Registry,
  type Row,
  type Table,
} from "../../../domain/sync/table/table.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";

interface ListRowsDeps {
  readonly registry: Registry;
  readonly tables: TableStore;
}

/** As texts; null, absent or empty is none. */
export interface RowsQuery extends ListParameters {
  /** Only rows whose timestamp is at or after this time. */
  readonly since?: string | null;
  /** Only the row with this key: the text of a key of one column, or a JSON object with every part. */
  readonly key?: string | null;
}

export interface RowList {
  readonly table: string;
  /** In the order of the table, as `shownRow` shows them. */
  readonly items: readonly JsonObject[];
  /** Null after the last part. */
  readonly nextCursor: string | null;
  /** Rows that match `since` and `key`. */
  readonly total: number;
}

const CURSOR = new RegExp(`^[\\w-]{1,${MAX_CURSOR_CHARS}}$`);
const WHOLE = /^[+-]?\d+$/;

/** Lists rows. Throws `unknown_table`, `invalid_request`, `store_unavailable`. */
export async function listRows(
  { registry, tables }: ListRowsDeps,
  tableName: string,
  query: RowsQuery,
): Promise<RowList> {
  const table = findTable(registry, tableName);
  const problems: InputProblem[] = [];
  const { limit, cursor } = readListQuery(query, CURSOR, problems);
  const sinceTime = readSince(table, query.since || null, problems);
  const record = query.key ? readKey(table, query.key, problems) : null;
  refuse(problems);
  if (record !== null) {
    const row = await findRow(tables, table, record);
    const items = row !== null && isSince(table, row, sinceTime) ? [shownRow(row)] : [];
    return { table: table.name, items, nextCursor: null, total: items.length };
  }
  const part = await tables.page(table, {
    from: { cursor },
    sinceTime,
    limitRows: limit,
    maxJsonBytes: MAX_SHOWN_ROWS_BYTES,
    hasTotal: true,
  });
  const items = part.rows.map((row) => shownRow(row));
  return { table: table.name, items, nextCursor: part.cursor, total: part.totalRows };
}

/** Null for no filter; a table without timestamps has none. */
function readSince(table: Table, text: string | null, problems: InputProblem[]): string | null {
  if (text === null) return null;
  const time = parseSince(text);
  if (time === null) problems.push({ pointer: "/since", detail: "Must be a date and time" });
  return table.timestampColumn === null ? null : time;
}

/** The key columns of a key as it was given. */
function readKey(table: Table, text: string, problems: InputProblem[]): JsonObject | null {
  const names = table.keyColumns.map(({ name }) => name);
  const parts = parsed(text);
  const hasParts =
    isJsonObject(parts) &&
    Object.keys(parts).length === names.length &&
    names.every((name) => Object.hasOwn(parts, name));
  if (hasParts) return parts;
  const [only] = table.keyColumns;
  if (names.length === 1 && only !== undefined) {
    const isNumber = only.type === "integer" && WHOLE.test(text);
    return { [only.name]: isNumber ? parseJson(String(BigInt(text))) : text };
  }
  const detail = `Must be a JSON object with every part of the key: ${names.join(", ")}`;
  problems.push({ pointer: "/key", detail });
  return null;
}

function parsed(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** Null also for a key that no row can have. */
async function findRow(tables: TableStore, table: Table, record: JsonObject): Promise<Row | null> {
  const key = convertPosition(table, record);
  if (key === null || key.includes(null)) return null;
  const [row = null] = await tables.byKeys(table, [keyRow(table, key)], "page");
  return row;
}

function isSince(table: Table, row: Row, sinceTime: string | null): boolean {
  if (sinceTime === null) return true;
  const time = rowTime(table, row);
  return time !== null && compareDateTimes(time, sinceTime) >= 0;
}

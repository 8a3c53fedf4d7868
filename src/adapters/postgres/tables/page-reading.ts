// Reads the rows of a page, from a position in the order of the table on.
import { fieldOf } from "../../../domain/shared/json.ts";
import { DAY_MS, firstMsFrom } from "../../../domain/shared/time.ts";
import type { PageSize } from "../../../domain/sync/rows/page-size.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Column, Row, Table } from "../../../domain/sync/table/table.ts";
import {
  type PageStart,
  type PartPlace,
  readPartCursor,
  START,
} from "../../../ports/tables/table-store.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { held } from "./columns.ts";
import { type Layout, NO_TIME, type OrderColumn, rowAt } from "./layout.ts";

/** Most rows of a portion, and the bytes that it should have. */
const MOST_PORTION = 2_000;
const PORTION_BYTES = 4 * 1024 * 1024;

/** Values of the first columns of an order, as texts. A position with fewer values than columns is behind all rows with these values. */
export type Position = readonly string[];

/** Where a page begins, and where it ends at the latest. */
export interface Bounds extends PartPlace<Position> {
  readonly through: Position | null;
  readonly since: string | null;
}

interface Portion {
  readonly order: readonly OrderColumn[];
  readonly bounds: Bounds;
  readonly columns: readonly Column[];
  readonly limitRows: number;
  readonly isReverse: boolean;
}

interface Reading extends Portion {
  readonly size: PageSize;
  /** Reads one row more, which tells whether a next page exists. */
  readonly asksForNext: boolean;
}

/** Reads in portions, each from the last row of the one before. */
export async function readRows(
  tx: ServerTransaction,
  layout: Layout,
  { size, asksForNext, ...reading }: Reading,
) {
  const { order, columns, limitRows } = reading;
  const rows: Row[] = [];
  const selected = [...new Set([...columns, ...order.map(({ column }) => column)])];
  const places = order.map(({ column }) => selected.indexOf(column));
  let last: Position | null = null;
  let { bounds } = reading;
  const wanted = limitRows + Number(asksForNext);
  for (;;) {
    const limit = Math.min(layout.portionRows, wanted - rows.length);
    const portion = { ...reading, columns: selected, limitRows: limit, bounds };
    const lines = await readPortion(tx, layout, portion);
    let bytes = 0;
    let taken = 0;
    for (const line of lines) {
      const row = rowAt(columns, line);
      if (rows.length === limitRows || !size.takes(row)) break;
      rows.push(row);
      taken++;
      for (const cell of line) if (typeof cell === "string") bytes += cell.length;
    }
    const lastLine = lines[taken - 1];
    if (lastLine !== undefined) {
      last = positionAt(order, lastLine, places);
      const fitting = Math.floor(PORTION_BYTES / (bytes / taken + 1));
      layout.portionRows = Math.max(1, Math.min(fitting, MOST_PORTION));
    }
    if (taken < lines.length) return { rows, last, hasNext: true };
    if (lines.length < limit || rows.length === wanted) return { rows, last, hasNext: false };
    bounds = { ...bounds, position: last, skip: 0 };
  }
}

export async function readPortion(
  tx: ServerTransaction,
  layout: Layout,
  { order, bounds, columns, limitRows, isReverse }: Portion,
) {
  const { position: after, through, since, skip } = bounds;
  const parameters = since === null ? [] : [since];
  const conditions = since === null ? [] : [isSince(order)];
  const bounding = [
    [after, isReverse ? "<" : ">"],
    [through, "<="],
  ] as const;
  for (const [position, sign] of bounding) {
    if (position === null) continue;
    conditions.push(comparison(order, sign, position, parameters.length + 1));
    parameters.push(...position);
  }
  const where = conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
  const by = order.map(({ text }) => `${text}${isReverse ? " desc" : ""}`).join(", ");
  parameters.push(String(limitRows), String(skip));
  const [limits, skips] = [parameters.length - 1, parameters.length];
  const text = `select ${layout.shown(columns)} from ${layout.name} as t${where} order by ${by} limit $${limits}::int8 offset $${skips}::int8`;
  return await tx.query(text, parameters);
}

export async function countRows(
  tx: ServerTransaction,
  layout: Layout,
  since: string | null,
): Promise<number> {
  const where = since === null ? "" : ` where ${isSince(layout.order())}`;
  const text = `select count(*) from ${layout.name} as t${where}`;
  return Number(await tx.first(text, since === null ? [] : [since]));
}

/** Selects rows at or after the time of the first parameter. */
function isSince([time]: readonly OrderColumn[]): string {
  return `${time?.text} >= $1::text::${time?.type}`;
}

export function boundsOf(
  order: readonly OrderColumn[],
  table: Table,
  from: PageStart,
): Omit<Bounds, "since"> {
  const at = (row: Row | null) => (row === null ? null : positionOf(order, table, row));
  const first = { ...START, through: null };
  if ("offsetRows" in from) return { ...first, skip: from.offsetRows };
  if ("after" in from) return { ...first, position: at(from.after) };
  if ("cursor" in from) {
    if (from.cursor === null) return first;
    return { ...first, ...readPartCursor(from.cursor, (json) => readPosition(order, json)) };
  }
  return { ...first, position: at(from.afterKey), through: at(from.throughKey) };
}

/** The position of a row, which need not exist. */
function positionOf(order: readonly OrderColumn[], table: Table, row: Row): Position {
  const position: string[] = [];
  for (const { column, isTime } of order) {
    if (isTime) {
      position.push(rowTime(table, row) ?? NO_TIME);
      continue;
    }
    const value = fieldOf(row, column.name);
    const text = held(column, value) ?? null;
    if (text === null) {
      // A text with NUL comes right behind the part before it.
      if (column.type === "text" && typeof value === "string") {
        position.push(value.slice(0, value.indexOf("\0")));
      }
      break;
    }
    position.push(text);
  }
  return position;
}

/** How the server writes dates and times of the calendar. */
const OF_CALENDAR = /^\d{4}-\d\d-\d\d(?: [\d:.]+\+00)?$/;

/** The position of a line; the columns of the order stand at `places`. */
export function positionAt(
  order: readonly OrderColumn[],
  line: readonly unknown[],
  places: readonly number[],
): Position {
  return order.map((column, i) => {
    const text = String(line[places[i] ?? 0]);
    return column.isTime && !OF_CALENDAR.test(text) ? NO_TIME : text;
  });
}

/** Selects rows behind, up to, or before a position. `<` needs a value for each column. */
function comparison(
  order: readonly OrderColumn[],
  sign: ">" | "<=" | "<",
  position: Position,
  firstParameter: number,
): string {
  if (position.length === 0) return sign === ">" ? "false" : "true";
  const columns = order.slice(0, position.length);
  const values = columns.map(({ type }, i) => `$${firstParameter + i}::text::${type}`);
  return `(${columns.map(({ text }) => text).join(", ")}) ${sign} (${values.join(", ")})`;
}

/** The first value of the order at or after a time; null for all rows, and in a table without times. */
export function sinceOf(layout: Layout, sinceTime: string | null): string | null {
  const [time] = layout.order();
  if (sinceTime === null || !time?.isTime) return null;
  if (time.type !== "date") return sinceTime;
  const day = new Date(Math.ceil(firstMsFrom(sinceTime) / DAY_MS) * DAY_MS).toISOString();
  return day.startsWith("+") ? "10000-01-01" : day.slice(0, 10);
}

/** The position of a cursor; null unless it has as many texts as the order. What columns cannot hold the server refuses. */
function readPosition(order: readonly OrderColumn[], json: unknown): Position | null {
  if (!Array.isArray(json) || json.length !== order.length) return null;
  return json.every((text) => typeof text === "string") ? json : null;
}

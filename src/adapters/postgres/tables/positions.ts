// Positions in the order of a table, as conditions.
import { fieldOf } from "../../../domain/shared/json.ts";
import { DAY_MS, firstMsFrom } from "../../../domain/shared/time.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { held } from "./columns.ts";
import { type Layout, NO_TIME, type OrderColumn } from "./layout.ts";

/** Values of the first columns of an order, as texts. A position with fewer values than columns is behind all rows with these values. */
export type Position = readonly string[];

/** The position of a row, which need not exist. */
export function positionOf(order: readonly OrderColumn[], table: Table, row: Row): Position {
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
export function comparison(
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
export function readPosition(order: readonly OrderColumn[], json: unknown): Position | null {
  if (!Array.isArray(json) || json.length !== order.length) return null;
  return json.every((text) => typeof text === "string") ? json : null;
}

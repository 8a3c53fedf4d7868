// Where a page starts: at the first row, at a time, or behind a position, which cursors hold as JSON.

import { orElse } from "../../../domain/shared/errors.ts";
import { compareUtf8 } from "../../../domain/shared/json.ts";
import { zonelessFrom } from "../../../domain/sync/rows/row-time.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { type RowsQuery, readPartCursor, START } from "../../../ports/tables/table-store.ts";
import type { SqliteValue } from "../driver/connection.ts";
import type { RowRange } from "./statements.ts";

/** A row's position in the order of its table or key: the stored values that it is ordered by. */
export type Place = readonly SqliteValue[];

export interface Start {
  readonly range: RowRange;
  readonly values: Place;
}

/** Starts at the first row, or at a canonical time, which a table without a timestamp ignores. */
export function firstStart(table: Table, sinceTime: string | null, hasKey: boolean): Start {
  if (sinceTime === null || table.timestampColumn === null) {
    return { range: { order: "table", from: "first", hasKey }, values: [] };
  }
  return {
    range: { order: "table", from: "time", hasKey },
    values: [zonelessFrom(table, sinceTime)],
  };
}

export interface SkippingStart extends Start {
  readonly skipRows: number;
}

export function startAtCursor(
  table: Table,
  first: Start,
  cursor: string | null,
  order: RowsQuery["order"] = "time",
): SkippingStart {
  const isByTime = order.endsWith("time") && table.timestampColumn !== null;
  const columns = table.keyColumns.length + Number(isByTime);
  const { position, skip: skipRows } =
    cursor === null ? START : readPartCursor(cursor, (json) => readPosition(json, columns));
  if (order === "time") return startBehind(first, position, skipRows);
  const isReverse = order.startsWith("-");
  const hasEndTime = isReverse && isByTime && first.range.from === "time";
  const range: RowRange = {
    order: isByTime ? "table" : "key",
    from: position === null ? "first" : "position",
    isReverse,
    hasEndTime,
    hasKey: true,
  };
  return { range, values: [...(position ?? []), ...(hasEndTime ? first.values : [])], skipRows };
}

/** Starts after the position or at the first row, whichever is later. A single condition makes a single range of the index. */
export function startBehind(first: Start, position: Place | null, skipRows = 0): SkippingStart {
  const [time] = first.values;
  const order = position?.[0];
  const isEarlier =
    typeof order === "string" && typeof time === "string" && compareUtf8(order, time) < 0;
  if (position === null || isEarlier) return { ...first, skipRows: isEarlier ? 0 : skipRows };
  return { range: { ...first.range, from: "position" }, values: position, skipRows };
}

/** Null for a position with NULL, as no row compares as after it. */
export function positionJson(position: Place): unknown {
  if (position.includes(null)) return null;
  return position.map((value) =>
    value instanceof Uint8Array ? { blob: value.toBase64() } : value,
  );
}

/** Null unless the JSON is a position of so many columns. */
function readPosition(json: unknown, columns: number): Place | null {
  if (!Array.isArray(json) || json.length !== columns) return null;
  const values = json.map(readPart);
  return values.every((value) => value !== undefined) ? values : null;
}

function readPart(json: unknown): SqliteValue | undefined {
  if (typeof json === "string" || typeof json === "number") return json;
  const { blob } = Object(json) as { readonly blob?: unknown };
  return typeof blob === "string"
    ? orElse(undefined, () => Uint8Array.fromBase64(blob))
    : undefined;
}

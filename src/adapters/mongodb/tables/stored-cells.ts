// Cells as BSON. What MongoDB compares must order as D-3.1 says, and what comes back must be what was written.
import { Double, Long } from "mongodb";
import { isRawNumber, type RawNumber } from "../../../domain/shared/json.ts";
import { isCanonicalDateTime, parseDate } from "../../../domain/shared/time.ts";
import type { Cell, Column } from "../../../domain/sync/table/table.ts";

/** A cell that is not of its column's kind, as JSON text: BSON orders it after numbers and texts, by its bytes. */
export interface VerbatimCell {
  readonly json: string;
}

/** A cell in the form the driver writes. */
export type StoredCell = null | boolean | number | string | Long | Double | VerbatimCell;

/** Magnitude from which BSON's 32-bit integers end. */
const INT32_END = 2 ** 31;
const INTEGER = /^-?[1-9]\d{0,18}$|^0$/;

/** The form in which a column keeps a cell. Nothing is lost: `RowReader` gives back the same cell. */
export function storeCell(column: Column, cell: Cell): StoredCell {
  if (cell === null) return null;
  if (column.type === "json") return JSON.stringify(cell);
  return ownForm(column, cell) ?? { json: JSON.stringify(cell) };
}

/** The stored form of a timestamp: its text without zone, which orders by time; null when it cannot be parsed. */
export function storeTime(column: Column, cell: Cell | undefined): string | null {
  if (typeof cell !== "string") return null;
  const stored = column.type === "date" ? storeDate(cell) : storeDateTime(cell);
  return stored ?? null;
}

/** The form of a cell that is of its column's kind; undefined for any other. */
function ownForm(column: Column, cell: Exclude<Cell, null>): StoredCell | undefined {
  switch (column.type) {
    case "text":
    case "numeric":
      return typeof cell === "string" ? cell : undefined;
    case "bigint":
      if (typeof cell !== "string") return undefined;
      return column.isKey ? storeInt64(cell) : cell;
    case "integer":
      return typeof cell === "number" || isRawNumber(cell) ? storeInteger(cell) : undefined;
    case "real":
      return typeof cell === "number" ? new Double(cell) : undefined;
    case "boolean":
      return typeof cell === "boolean" ? cell : undefined;
    case "datetime":
      return typeof cell === "string" ? storeDateTime(cell) : undefined;
    case "date":
      return typeof cell === "string" ? storeDate(cell) : undefined;
    case "json":
      return JSON.stringify(cell);
  }
}

/** Without the `Z`, so that a shorter fraction comes before a longer one: bytes in the order of time. */
function storeDateTime(text: string): string | undefined {
  return isCanonicalDateTime(text) ? text.slice(0, -1) : undefined;
}

function storeDate(text: string): string | undefined {
  return parseDate(text) === text ? text : undefined;
}

function storeInteger(value: number | RawNumber): StoredCell | undefined {
  if (typeof value !== "number") return storeInt64(value.rawJSON);
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return undefined;
  return Math.abs(value) < INT32_END ? value : Long.fromNumber(value);
}

function storeInt64(text: string): Long | undefined {
  if (!INTEGER.test(text)) return undefined;
  const long = Long.fromString(text);
  return long.toString() === text ? long : undefined;
}

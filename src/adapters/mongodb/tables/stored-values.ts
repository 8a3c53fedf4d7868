// Values as BSON. What MongoDB compares must order as D-3.1 says, and what comes back must be what was written.
import { Double, Long } from "mongodb";
import { isRawNumber, type RawNumber } from "../../../domain/shared/json.ts";
import { isCanonicalDateTime, parseDate } from "../../../domain/shared/time.ts";
import type { Column, ColumnValue } from "../../../domain/sync/table/table.ts";

/** A column value that is not of its column's kind, as JSON text: BSON orders it after numbers and texts, by its bytes. */
export interface VerbatimValue {
  readonly json: string;
}

/** A column value in the form the driver writes. */
export type StoredValue = null | boolean | number | string | Long | Double | VerbatimValue;

/** Magnitude from which BSON's 32-bit integers end. */
const INT32_END = 2 ** 31;
const INTEGER = /^-?[1-9]\d{0,18}$|^0$/;

/** The form in which a column keeps a value. Nothing is lost: `RowReader` gives back the same value. */
export function storeValue(column: Column, value: ColumnValue): StoredValue {
  if (value === null) return null;
  if (column.type === "json") return JSON.stringify(value);
  return ownForm(column, value) ?? { json: JSON.stringify(value) };
}

/** The stored form of a timestamp: its text without zone, which orders by time; null when it cannot be parsed. */
export function storeTime(column: Column, value: ColumnValue | undefined): string | null {
  if (typeof value !== "string") return null;
  const stored = column.type === "date" ? storeDate(value) : storeDateTime(value);
  return stored ?? null;
}

/** The form of a value that is of its column's kind; undefined for any other. */
function ownForm(column: Column, value: Exclude<ColumnValue, null>): StoredValue | undefined {
  switch (column.type) {
    case "text":
    case "numeric":
      return typeof value === "string" ? value : undefined;
    case "bigint":
      if (typeof value !== "string") return undefined;
      return column.isKey ? storeInt64(value) : value;
    case "integer":
      return typeof value === "number" || isRawNumber(value) ? storeInteger(value) : undefined;
    case "real":
      return typeof value === "number" ? new Double(value) : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "datetime":
      return typeof value === "string" ? storeDateTime(value) : undefined;
    case "date":
      return typeof value === "string" ? storeDate(value) : undefined;
    case "json":
      return JSON.stringify(value);
  }
}

/** Without the `Z`, so that a shorter fraction comes before a longer one: bytes in the order of time. */
function storeDateTime(text: string): string | undefined {
  return isCanonicalDateTime(text) ? text.slice(0, -1) : undefined;
}

function storeDate(text: string): string | undefined {
  return parseDate(text) === text ? text : undefined;
}

function storeInteger(value: number | RawNumber): StoredValue | undefined {
  if (typeof value !== "number") return storeInt64(value.rawJSON);
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return undefined;
  return Math.abs(value) < INT32_END ? value : Long.fromNumber(value);
}

function storeInt64(text: string): Long | undefined {
  if (!INTEGER.test(text)) return undefined;
  const long = Long.fromString(text);
  return long.toString() === text ? long : undefined;
}

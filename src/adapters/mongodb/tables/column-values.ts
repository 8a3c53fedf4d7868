// Column values as BSON and back, in the order of D-3.1, and unchanged.
import { Buffer } from "node:buffer";
import {
  Binary,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from "mongodb";
import {
  exactInteger,
  isNumber,
  type JsonValue,
  type RawNumber,
} from "../../../domain/shared/json.ts";
import { FIRST_TIME_MS, formatMs, LAST_TIME_MS } from "../../../domain/shared/time.ts";
import { storedText } from "../../../domain/sync/rows/convert.ts";
import { holdsDecimals } from "../../../domain/sync/table/column-types.ts";
import type { Column, ColumnValue } from "../../../domain/sync/table/table.ts";

/** A value that does not fit its column, as JSON text: BSON orders it by its bytes after numbers and texts. */
interface VerbatimValue {
  readonly json: string;
}

export type StoredValue = null | boolean | number | string | Long | Double | VerbatimValue;

/** BSON's 32-bit integers are smaller, without their sign. */
const INT32_END = 2 ** 31;
const INTEGER = /^-?[1-9]\d{0,18}$|^0$/;

/** Loses nothing: `RowReader` gives back the same value. */
export function storeValue(column: Column, value: ColumnValue): StoredValue {
  if (value === null) return null;
  return ownTypeForm(column, value) ?? { json: JSON.stringify(value) };
}

/** A timestamp without zone, which orders by time; null when it cannot be parsed. */
export function storeTime(column: Column, value: ColumnValue = null): string | null {
  const stored = value === null ? null : ownTypeForm(column, value);
  return typeof stored === "string" ? stored : null;
}

/** The stored form of a value that fits its column; undefined for others. */
function ownTypeForm(column: Column, value: Exclude<ColumnValue, null>): StoredValue | undefined {
  switch (column.type) {
    case "bigint":
      if (!column.isKey) return storedText("bigint", value);
      return typeof value === "string" ? storeInt64(value) : undefined;
    case "integer":
      return isNumber(value) ? storeInteger(value) : undefined;
    case "real":
      return typeof value === "number" ? new Double(value) : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "text":
    case "numeric":
    case "datetime":
    case "date":
    case "json":
      return storedText(column.type, value);
  }
}

function storeInteger(value: number | RawNumber): StoredValue | undefined {
  if (typeof value !== "number") return storeInt64(value.rawJSON);
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return undefined;
  return Math.abs(value) < INT32_END ? value : Long.fromNumber(value);
}

/** Takes -2^63, too, which keys of other programs may have. */
function storeInt64(text: string): Long | undefined {
  if (!INTEGER.test(text)) return undefined;
  const long = Long.fromString(text);
  return long.toString() === text ? long : undefined;
}

/** What a page shows for a BSON value that only other tools write. A `json` column keeps its structure. Never fails. */
export function foreignValue(column: Column, value: unknown): ColumnValue {
  const json = toJson(value);
  if (column.type === "json" || json === null) return json;
  if (column.type === "date" && value instanceof Date) return String(json).slice(0, 10);
  const isText = isNumber(json) ? holdsDecimals(column) : typeof json === "object";
  return isText ? JSON.stringify(json) : json;
}

function toJson(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof Double || value instanceof Int32) return toJson(value.value);
  // Before `Long`, which it extends.
  if (value instanceof Timestamp) return value.toString();
  if (value instanceof Long) return exactInteger(value.toBigInt());
  if (value instanceof Date) return timeText(value.getTime());
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof Binary) return Buffer.from(value.buffer).toString("base64");
  if (Array.isArray(value)) return value.map(toJson);
  return objectJson(value);
}

function timeText(atMs: number): string {
  return atMs >= FIRST_TIME_MS && atMs <= LAST_TIME_MS ? formatMs(atMs) : `${atMs} ms`;
}

function objectJson(value: unknown): JsonValue {
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof MinKey || value instanceof MaxKey) return value._bsontype;
  if (value instanceof BSONSymbol || value instanceof RegExp) return String(value);
  const shown = value instanceof Code || value instanceof DBRef ? value.toJSON() : value;
  return Object.fromEntries(Object.entries(shown).map(([name, member]) => [name, toJson(member)]));
}

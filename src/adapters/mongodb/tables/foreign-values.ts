// Values that repsync never writes but other tools may: pages show them as well as JSON can, and never fail.
import { Buffer } from "node:buffer";
import { Binary, Decimal128, Double, Int32, Long, ObjectId, Timestamp } from "mongodb";
import { type JsonValue, rawNumber } from "../../../domain/shared/json.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { Column, ColumnValue } from "../../../domain/sync/table/table.ts";

const MIN_TIME_MS = -62_135_596_800_000; // 0001-01-01T00:00:00Z
const MAX_TIME_MS = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z

/** The value that a page shows for any BSON value of another tool. `json` columns keep its structure. */
export function foreignValue(column: Column, value: unknown): ColumnValue {
  const json = toJson(value);
  if (column.type === "json") return json;
  if (column.type === "date" && value instanceof Date) return String(json).slice(0, 10);
  if (typeof json === "object" && json !== null && !("rawJSON" in json))
    return JSON.stringify(json);
  const isNumber = typeof json === "number" || typeof json === "object";
  const wantsText = column.type === "numeric" || column.type === "bigint";
  return wantsText && isNumber && json !== null ? JSON.stringify(json) : json;
}

function toJson(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof Double || value instanceof Int32) return toJson(value.value);
  // Before `Long`, which it extends.
  if (value instanceof Timestamp) return value.toString();
  if (value instanceof Long) return longNumber(value);
  if (value instanceof Date) return timeText(value.getTime());
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof Binary) return Buffer.from(value.buffer).toString("base64");
  if (Array.isArray(value)) return value.map(toJson);
  return objectJson(value);
}

function longNumber(value: Long): JsonValue {
  const number = value.toNumber();
  return Number.isSafeInteger(number) ? number : rawNumber(value.toString());
}

function timeText(atMs: number): string {
  return atMs >= MIN_TIME_MS && atMs <= MAX_TIME_MS ? formatMs(atMs) : `${atMs} ms`;
}

function objectJson(value: unknown): JsonValue {
  if (typeof value !== "object" || value === null) return String(value);
  if ("_bsontype" in value || value instanceof RegExp) return String(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toJson(member)]));
}

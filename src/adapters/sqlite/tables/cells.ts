// How cells are kept in SQLite: in its own types where they keep every digit and the order of D-3.1, and as a BLOB of
// JSON text where a value is not of its column's type. No column changes a BLOB, and BLOBs sort after everything else.
import { isRawNumber, numberText, parseJson, rawNumber } from "../../../domain/shared/json.ts";
import { MAX_INT64 } from "../../../domain/shared/limits.ts";
import {
  isCanonicalDate,
  isCanonicalDateTime,
  parseDate,
  parseDateTime,
} from "../../../domain/shared/time.ts";
import type { Cell, Column, Row } from "../../../domain/sync/table/table.ts";
import type { SqliteRow, SqliteValue } from "../driver/driver.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The declared type, which is also the affinity: TEXT where SQLite must not take digits for a number. */
export function declaredType(column: Column): "TEXT" | "INTEGER" | "REAL" {
  switch (column.type) {
    case "integer":
    case "boolean":
      return "INTEGER";
    case "bigint":
      return column.isKey ? "INTEGER" : "TEXT";
    case "real":
      return "REAL";
    default:
      return "TEXT";
  }
}

/** What to bind for a cell of a column. An INTEGER beyond ±(2^53-1) is bound as its digits: INTEGER affinity converts it. */
export function cellEncoder(column: Column): (cell: Cell) => SqliteValue {
  const encode = typeEncoder(column);
  return (cell) => {
    if (cell === null) return null;
    const value = encode(cell);
    return value === undefined ? encoder.encode(jsonText(cell)) : value;
  };
}

/** The value for a cell of the column's own type; undefined for any other cell. */
function typeEncoder(column: Column): (cell: Exclude<Cell, null>) => SqliteValue | undefined {
  switch (column.type) {
    case "text":
    case "numeric":
      return (cell) => (typeof cell === "string" ? cell : undefined);
    case "bigint":
      if (column.isKey) return (cell) => (typeof cell === "string" ? int64Digits(cell) : undefined);
      return (cell) => (typeof cell === "string" ? cell : undefined);
    case "integer":
      return encodeInteger;
    case "real":
      return (cell) => (typeof cell === "number" && !Object.is(cell, -0) ? cell : undefined);
    case "boolean":
      return (cell) => (typeof cell === "boolean" ? Number(cell) : undefined);
    case "datetime":
      // Without the Z the bytes sort by time, whatever the number of fraction digits.
      return (cell) =>
        typeof cell === "string" && isCanonicalDateTime(cell) ? cell.slice(0, -1) : undefined;
    case "date":
      return (cell) => (typeof cell === "string" && isCanonicalDate(cell) ? cell : undefined);
    case "json":
      return (cell) => JSON.stringify(cell);
  }
}

function encodeInteger(cell: Cell): SqliteValue | undefined {
  if (typeof cell === "number") {
    if (Number.isSafeInteger(cell)) return Object.is(cell, -0) ? undefined : cell;
    return int64Digits(String(cell));
  }
  return isRawNumber(cell) ? int64Digits(cell.rawJSON) : undefined;
}

/** Plain digits of a whole number that an INTEGER holds. */
function int64Digits(text: string): string | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= -MAX_INT64 && value <= MAX_INT64 ? text : undefined;
}

function jsonText(cell: Cell): string {
  return typeof cell === "number" ? numberText(cell) : JSON.stringify(cell);
}

/** The expression that reads a column without losing a digit or a character. */
export function readExpression(column: Column, cutsTextAtNul: boolean): string {
  const name = `"${column.name}"`;
  if (declaredType(column) === "INTEGER") {
    const digits = `WHEN typeof(${name}) = 'integer' THEN CAST(${name} AS TEXT) ELSE ${name} END`;
    if (column.type === "bigint") return `CASE ${digits}`;
    return `CASE WHEN ${name} BETWEEN -9007199254740991 AND 9007199254740991 THEN ${name} ${digits}`;
  }
  const mayHoldNul = ["text", "numeric", "bigint"].includes(column.type);
  if (!cutsTextAtNul || !mayHoldNul) return name;
  return `CASE WHEN instr(${name}, char(0)) THEN CAST(${name} AS BLOB) ELSE ${name} END`;
}

/**
 * Turns rows as read by `readExpression` into cells, in place. Values that other tools wrote come out as near to their
 * column's type as they can be read.
 */
export function decodeRows(rows: SqliteRow[], columns: readonly Column[]): Row[] {
  const cells = rows as Record<string, Cell | Uint8Array>[];
  for (const { name, type } of columns) {
    const decode = typeDecoder(type);
    for (const row of cells) {
      const value = row[name];
      if (value === null || value === undefined) continue;
      if (typeof value === "object") row[name] = decodeBlob(value as Uint8Array);
      else if (decode !== null) row[name] = decode(value as string | number);
    }
  }
  return cells as Row[];
}

/** What is left to do for a value that is neither NULL nor BLOB; null for nothing. */
function typeDecoder(type: Column["type"]): ((value: string | number) => Cell) | null {
  switch (type) {
    case "text":
    case "numeric":
    case "bigint":
    case "real":
      return null;
    case "integer":
      return (value) => (typeof value === "string" ? decodeDigits(value) : value);
    case "boolean":
      return (value) => (typeof value === "number" ? value !== 0 : value);
    case "datetime":
      return (value) => decodeDateTime(String(value));
    case "date":
      return (value) => {
        const text = String(value);
        return text.length === 10 ? text : (parseDate(text) ?? text);
      };
    case "json":
      return (value) => decodeJson(String(value));
  }
}

function decodeDigits(text: string): Cell {
  return int64Digits(text) === undefined ? text : rawNumber(text);
}

function decodeDateTime(text: string): Cell {
  const canonical = `${text}Z`;
  return isCanonicalDateTime(canonical) ? canonical : (parseDateTime(text) ?? text);
}

function decodeJson(text: string): Cell {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A value of another type than its column's; or a text with a NUL, which is never JSON. */
function decodeBlob(bytes: Uint8Array): Cell {
  return decodeJson(decoder.decode(bytes));
}

/** A text that was read as BLOB for its NUL is a text again; no JSON text holds one. */
export function textWithNul(value: SqliteValue): SqliteValue {
  return value instanceof Uint8Array && value.includes(0) ? decoder.decode(value) : value;
}

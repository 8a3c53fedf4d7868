// Values as SQLite stores them: in its types where these keep every digit and the order of D-3.1. A value that does not fit its
// column is a BLOB of its JSON text: no affinity changes a BLOB, and BLOBs sort last.
import { int64Digits } from "../../../domain/shared/decimal.ts";
import { isRawNumber, numberText, parseJsonOr, rawNumber } from "../../../domain/shared/json.ts";
import { readStoredText, storedText } from "../../../domain/sync/rows/convert.ts";
import { holdsDecimals } from "../../../domain/sync/table/column-types.ts";
import type { Column, ColumnValue, Row } from "../../../domain/sync/table/table.ts";
import type { SqliteRow, SqliteValue } from "../driver/connection.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The declared type, which gives the affinity: TEXT where SQLite must not turn digits into a number. */
export function declaredType({ type, isKey }: Column): "TEXT" | "INTEGER" | "REAL" {
  if (type === "integer" || type === "boolean" || (type === "bigint" && isKey)) return "INTEGER";
  return type === "real" ? "REAL" : "TEXT";
}

/** Encodes values of a column for binding. An INTEGER beyond ±(2^53-1) is bound as digits, which INTEGER affinity converts. */
export function valueEncoder({ type, isKey }: Column): (value: ColumnValue) => SqliteValue {
  const encode = type === "bigint" && isKey ? encodeKeyDigits : ENCODERS[type];
  return (value) => {
    if (value === null) return null;
    const encoded = encode(value);
    if (encoded !== undefined) return encoded;
    return encoder.encode(typeof value === "number" ? numberText(value) : JSON.stringify(value));
  };
}

type Encode = (value: Exclude<ColumnValue, null>) => SqliteValue | undefined;

/** Encode values that fit a column; undefined for others. */
const ENCODERS: Readonly<Record<Column["type"], Encode>> = {
  integer: encodeInteger,
  real: encodeReal,
  boolean: (value) => (typeof value === "boolean" ? Number(value) : undefined),
  bigint: (value) => storedText("bigint", value),
  numeric: (value) => storedText("numeric", value),
  text: (value) => storedText("text", value),
  datetime: (value) => storedText("datetime", value),
  date: (value) => storedText("date", value),
  json: (value) => storedText("json", value),
};

function encodeKeyDigits(value: ColumnValue): SqliteValue | undefined {
  return typeof value === "string" ? int64Digits(value) : undefined;
}

function encodeInteger(value: ColumnValue): SqliteValue | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return Object.is(value, -0) ? undefined : value;
    return int64Digits(String(value));
  }
  return isRawNumber(value) ? int64Digits(value.rawJSON) : undefined;
}

/** Infinities are texts in rows, as JSON has none. */
function encodeReal(value: ColumnValue): SqliteValue | undefined {
  if (value === "Infinity" || value === "-Infinity") return Number(value);
  return typeof value === "number" && !Object.is(value, -0) ? value : undefined;
}

export function boundValues(columns: readonly Column[], row: Row): SqliteValue[] {
  return columns.map((column) => valueEncoder(column)(row[column.name] ?? null));
}

/** The columns of a SELECT, for `decodeRows`. */
export function readColumns(columns: readonly Column[], cutsTextAtNul: boolean): string {
  const read = (column: Column) => `${readExpression(column, cutsTextAtNul)} AS "${column.name}"`;
  return columns.map(read).join(", ");
}

/** Reads a column without losing a digit or a character. In brackets, as SQLite reads a missing name in double quotes as a text. */
function readExpression(column: Column, cutsTextAtNul: boolean): string {
  const name = `[${column.name}]`;
  if (declaredType(column) === "INTEGER") {
    const digits = `WHEN typeof(${name}) = 'integer' THEN CAST(${name} AS TEXT) ELSE ${name} END`;
    if (column.type === "bigint") return `CASE ${digits}`;
    return `CASE WHEN ${name} BETWEEN -9007199254740991 AND 9007199254740991 THEN ${name} ${digits}`;
  }
  const mayHoldNul = column.type === "text" || holdsDecimals(column);
  if (!cutsTextAtNul || !mayHoldNul) return name;
  return `CASE WHEN instr(${name}, char(0)) THEN CAST(${name} AS BLOB) ELSE ${name} END`;
}

/** Decodes rows of `readColumns` in place. Values of other tools come out as near to their column's type as possible. */
export function decodeRows(rows: SqliteRow[], columns: readonly Column[]): Row[] {
  const decoded = rows as Record<string, ColumnValue | Uint8Array>[];
  for (const { name, type } of columns) {
    const decode = DECODERS[type];
    for (const row of decoded) {
      const value = row[name];
      if (value === null || value === undefined) continue;
      if (typeof value === "object") row[name] = decodeBlob(value as Uint8Array);
      else if (decode !== undefined) row[name] = decode(value as string | number);
    }
  }
  return decoded as Row[];
}

type Decode = (value: string | number) => ColumnValue;

/** Decode values that are neither NULL nor BLOB. */
const DECODERS: Readonly<Partial<Record<Column["type"], Decode>>> = {
  real: (value) => (value === Infinity || value === -Infinity ? String(value) : value),
  integer: (value) => (typeof value === "string" ? decodeDigits(value) : value),
  boolean: (value) => (typeof value === "number" ? value !== 0 : value),
  datetime: (value) => readStoredText("datetime", String(value)),
  date: (value) => readStoredText("date", String(value)),
  json: (value) => readStoredText("json", String(value)),
};

function decodeDigits(text: string): ColumnValue {
  return int64Digits(text) === undefined ? text : rawNumber(text);
}

/** A value that does not fit its column, or text with a NUL, which is never JSON. */
function decodeBlob(bytes: Uint8Array): ColumnValue {
  const text = decoder.decode(bytes);
  return parseJsonOr(text, text);
}

/** Turns text with a NUL, which was read as BLOB, back into text; JSON text has no NUL. */
export function textWithNul(value: SqliteValue): SqliteValue {
  return value instanceof Uint8Array && value.includes(0) ? decoder.decode(value) : value;
}

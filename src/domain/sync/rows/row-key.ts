// The upsert key of a row, derived from a record, and the order in which every store keeps keys. Texts that stand for a row's key,
// or its content. D-3.1.
import { decimalValueForm, parseInt64 } from "../../shared/decimal.ts";
import {
  compareUtf8,
  fieldOf,
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
  numberText,
} from "../../shared/json.ts";
import { compareDateTimes } from "../../shared/time.ts";
import { holdsDecimals } from "../table/column-types.ts";
import type { Column, ColumnValue, Row, Table } from "../table/table.ts";
import { convertFields, isOfType } from "./convert.ts";

/** The values of the key columns, in the order of `upsert_key`, as digests name keys. */
export type UpsertKey = readonly ColumnValue[];

export interface RowKey {
  /** The key columns as the table would keep them; as they were sent when the key is not usable. */
  readonly columns: Row;
  /** Equal for records of the same row. */
  readonly text: string;
  /** False when no row can have this key: a part is missing, null or of another type. */
  readonly isUsable: boolean;
}

/** The key of a record that was sent. Stored rows have theirs by `keyText`. */
export function rowKey(table: Table, record: JsonValue): RowKey {
  const key = isJsonObject(record) ? convertFields(table.keyColumns, record).row : null;
  const columns = key ?? recordKey(table, record);
  return { columns, text: keyText(table, columns), isUsable: key !== null };
}

/** The key columns of a row, or of a record as they were sent; a missing one is null. */
export function recordKey(table: Table, record: JsonValue): JsonObject {
  const fields = isJsonObject(record) ? record : {};
  return Object.fromEntries(table.keyColumns.map(({ name }) => [name, fieldOf(fields, name)]));
}

/** The key columns of a record that was sent, as the table would keep them; null for no usable key. */
export function convertKey({ keyColumns }: Pick<Table, "keyColumns">, record: Row): Row | null {
  return convertFields(keyColumns, record).row;
}

/** As `convertKey`, for a place in the order: keys that are longer than the column allows today count too. */
export function convertPosition(table: Table, record: Row): Row | null {
  const keyColumns = table.keyColumns.map((column) => ({ ...column, maxLength: null }));
  return convertKey({ keyColumns }, record);
}

export function keyOf(table: Table, row: Row): UpsertKey {
  return table.keyColumns.map(({ name }) => row[name] ?? null);
}

/** A key as a row without other columns. */
export function keyRow(table: Table, key: UpsertKey): Row {
  return Object.fromEntries(table.keyColumns.map(({ name }, i) => [name, key[i] ?? null]));
}

/** Orders two rows by the values of their keys, in the order of `keyColumns`: negative, 0 or positive. */
export function compareKeys(table: Table, a: Row, b: Row): number {
  for (const column of table.keyColumns) {
    const order = compareValues(column, a[column.name] ?? null, b[column.name] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** Values of the column's type come first, then the others by their JSON text. */
function compareValues(column: Column, a: ColumnValue, b: ColumnValue): number {
  const isTyped = a !== null && isOfType(column.type, a);
  if (isTyped !== (b !== null && isOfType(column.type, b))) return isTyped ? -1 : 1;
  if (!isTyped) return compareUtf8(JSON.stringify(a), JSON.stringify(b));
  switch (column.type) {
    case "boolean":
      return Number(a) - Number(b);
    case "integer":
    case "bigint":
      return compareWhole(a, b);
    case "datetime":
      return compareDateTimes(String(a), String(b));
    case "text":
    case "numeric":
    case "real":
    case "date":
    case "json":
      return compareUtf8(String(a), String(b));
  }
}

function compareWhole(a: ColumnValue, b: ColumnValue): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [x, y] = [wholeValue(a), wholeValue(b)];
  return x < y ? -1 : Number(x > y);
}

function wholeValue(value: ColumnValue): bigint {
  return parseInt64(isNumber(value) ? numberText(value) : String(value)) ?? 0n;
}

// Texts: equal ones mean the same key, or equal content, however the values are written.

/** The text of a row's content: equal for rows that differ only in how a decimal is written or JSON fields ordered. */
export function rowText(table: Table, row: Row): string {
  let text = "";
  for (const column of table.movedColumns) text += columnText(column, row[column.name] ?? null);
  return text;
}

/** The text of a stored key; for the key of a sent record see `rowKey`. In keys `1.5` and `1.50` differ. D-3.1. */
export function keyText(table: Table, row: Row): string {
  let text = "";
  for (const { name } of table.keyColumns) {
    const value = row[name] ?? null;
    text += isNumber(value) ? `#${numberText(value)};` : valueText(value);
  }
  return text;
}

/** True for two values of a column that differ at most in how a decimal is written or JSON fields ordered. */
export function isSameValue(column: Column, a: ColumnValue, b: ColumnValue): boolean {
  return columnText(column, a) === columnText(column, b);
}

function columnText(column: Column, value: ColumnValue): string {
  if (typeof value !== "string" || !holdsDecimals(column)) return valueText(value);
  const decimal = decimalValueForm(value);
  return decimal === null ? valueText(value) : `"${decimal}"`;
}

/** Every value begins with a sign of its kind and shows where it ends, so two rows never share a text. */
function valueText(value: JsonValue): string {
  if (value === null) return "~";
  if (typeof value === "string") return `'${value.length}:${value}`;
  if (typeof value === "boolean") return value ? "+" : "-";
  if (isNumber(value)) {
    return `#${decimalValueForm(numberText(value)) ?? numberText(value)};`;
  }
  if (Array.isArray(value)) return `[${value.map(valueText).join("")}]`;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => valueText(name) + valueText(field)).join("")}}`;
}

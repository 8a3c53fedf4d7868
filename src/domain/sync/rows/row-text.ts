// Texts that stand for rows: equal texts mean equal content, or the same key, however the values are written.
import { decimalValueForm } from "../../shared/decimal.ts";
import { isNumber, type JsonValue, numberText } from "../../shared/json.ts";
import { holdsDecimals } from "../table/column-types.ts";
import type { Column, ColumnValue, Row, Table } from "../table/table.ts";

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

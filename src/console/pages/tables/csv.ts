import { spreadsheetField } from "../../../domain/shared/spreadsheet-field.ts";
import { type Fields, valueText } from "./value-text.tsx";

/** Rows as CSV (RFC 4180) for spreadsheets, with a line of names; null is an empty cell. */
export function csvOf(rows: readonly Fields[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => names.map((name) => cellOf(row[name])));
  return [names.map(quoted), ...lines].map((cells) => `${cells.join(",")}\r\n`).join("");
}

function cellOf(value: unknown): string {
  if (value === null) return "";
  // An empty text is quoted, so that it can be told from null.
  return value === "" ? '""' : quoted(spreadsheetField(valueText(value)));
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

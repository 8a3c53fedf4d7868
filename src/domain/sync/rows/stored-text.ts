// The texts in which SQLite and MongoDB keep values of a column.
import { parseJsonOr } from "../../shared/json.ts";
import {
  isCanonicalDate,
  isCanonicalDateTime,
  parseDate,
  parseDateTime,
} from "../../shared/time.ts";
import type { Column, ColumnValue } from "../table/table.ts";

/** The text of a value; undefined for a value that does not fit. Times have no `Z`: their bytes sort by time, with any number of digits. */
export function storedText(
  type: Column["type"],
  value: Exclude<ColumnValue, null>,
): string | undefined {
  if (type === "json") return JSON.stringify(value);
  if (typeof value !== "string") return undefined;
  if (type === "datetime") return isCanonicalDateTime(value) ? value.slice(0, -1) : undefined;
  return type !== "date" || isCanonicalDate(value) ? value : undefined;
}

/** The value of a stored text. Texts of other programs come out as near to the type as possible. */
export function readStoredText(type: Column["type"], text: string): ColumnValue {
  if (type === "datetime") {
    const canonical = `${text}Z`;
    return isCanonicalDateTime(canonical) ? canonical : (parseDateTime(text) ?? text);
  }
  if (type === "date") return text.length === 10 ? text : (parseDate(text) ?? text);
  return type === "json" ? parseJsonOr(text, text) : text;
}

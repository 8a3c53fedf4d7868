// The filter and the order of rows that somebody looks for by hand. D-14.5.
import { isNumber, numberText } from "../../shared/json.ts";
import { markedValue, readCsvField } from "../rows/csv-fields.ts";
import { importValue } from "../rows/import-value.ts";
import { isSameValue } from "../rows/row-text.ts";
import { fileFormOf } from "../table/registry.ts";
import type { Column, ColumnValue, Row, Table } from "../table/table.ts";

/** Orders of rows; `-` is from the end. In a table without timestamps `time` is the order of the key. */
export const ROW_ORDERS = ["key", "-key", "time", "-time"] as const;

export type RowOrder = (typeof ROW_ORDERS)[number];

/** Numbers and times are written as on pages, whatever the table's files are like. */
const PLAIN = fileFormOf();

export type RowFilter = (row: Row) => boolean;

type ReadFilter =
  | { readonly filter: RowFilter; readonly problem: null }
  | { readonly filter: null; readonly problem: string };

/**
 * Reads `column:text`: a column of texts contains the text, letter case aside; any other equals it as a value, read as a field
 * of a CSV file, so that an empty text is null. Fails for a column that no page shows, and for a text that the column cannot hold.
 */
export function readRowFilter(table: Table, where: string): ReadFilter {
  const [name = ""] = where.split(":", 1);
  const column = table.pageColumns.find((each) => each.name === name);
  if (name.length === where.length || column === undefined) {
    const names = table.pageColumns.map((each) => each.name).join(", ");
    return { filter: null, problem: `Must be column:text, of the columns ${names}` };
  }
  const text = where.slice(name.length + 1);
  if (column.type === "text") return { filter: contains(column, text), problem: null };
  const value = readCsvField(column, text, PLAIN);
  const isExact = markedValue(text) !== undefined;
  const read = importValue(table, column, value === undefined ? text : value, isExact);
  if (read.problem !== null) return { filter: null, problem: `${name} ${read.problem}` };
  const { value: wanted } = read;
  return { filter: (row) => isSameValue(column, row[name] ?? null, wanted), problem: null };
}

function contains({ name }: Column, text: string): RowFilter {
  const wanted = folded(text);
  return (row) => {
    const shown = shownText(row[name] ?? null);
    return shown !== null && folded(shown).includes(wanted);
  };
}

/** Values other than text are found by the text that pages show. */
function shownText(value: ColumnValue): string | null {
  if (value === null || typeof value === "string") return value;
  return isNumber(value) ? numberText(value) : JSON.stringify(value);
}

/** Upper case first: some texts, such as `ß` and `ss`, are equal only there. */
function folded(text: string): string {
  return text.toUpperCase().toLowerCase();
}

// Digests of rows, so that two deployments can prove their tables equal without sending them. D-4.10.
import { decimalValueForm } from "../../shared/decimal.ts";
import { HASH_WORDS, hashText } from "../../shared/hash.ts";
import { isRawNumber, type JsonValue, numberText } from "../../shared/json.ts";
import type { Column, ColumnValue, Row, Table } from "../table/table.ts";

/** Names the way rows are written and hashed; ends with different ones cannot compare digests. */
export const DIGEST_FORMAT = "rows-1";

/** How many rows there are and what they hold, whatever their order: sums of the words of their hashes. */
export interface RowsDigest {
  readonly count: number;
  /** 32 hexadecimal digits. */
  readonly digest: string;
}

/** Adds rows up to a digest. */
export interface DigestSum {
  add(row: Row): void;
  result(): RowsDigest;
}

const comparedByTable = new WeakMap<Table, readonly Column[]>();

/** The columns that runs move, by name: those pages show and pushes may write. */
export function comparedColumns(table: Table): readonly Column[] {
  const known = comparedByTable.get(table);
  if (known !== undefined) return known;
  const columns = table.pageColumns
    .filter((column) => table.pushColumns.includes(column))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  comparedByTable.set(table, columns);
  return columns;
}

/** Starts a digest of no rows. */
export function startDigest(table: Table): DigestSum {
  const columns = comparedColumns(table);
  const words = new Uint32Array(HASH_WORDS);
  const sum = new Uint32Array(HASH_WORDS);
  let count = 0;
  return {
    add(row) {
      hashText(columnsText(columns, row), words);
      for (let i = 0; i < HASH_WORDS; i++) sum[i] = (sum[i] ?? 0) + (words[i] ?? 0);
      count++;
    },
    result: () => ({
      count,
      digest: Array.from(sum, (word) => word.toString(16).padStart(8, "0")).join(""),
    }),
  };
}

/** One text per content of a row: equal for rows that differ only in how a decimal is written or JSON fields ordered. */
export function rowText(table: Table, row: Row): string {
  return columnsText(comparedColumns(table), row);
}

/** One text per key. */
export function keyText(table: Table, row: Row): string {
  return columnsText(table.keyColumns, row);
}

function columnsText(columns: readonly Column[], row: Row): string {
  let text = "";
  for (const column of columns) text += columnText(column, row[column.name] ?? null);
  return text;
}

function columnText(column: Column, value: ColumnValue): string {
  if (typeof value !== "string" || (column.type !== "numeric" && column.type !== "bigint")) {
    return valueText(value);
  }
  const decimal = decimalValueForm(value);
  return decimal === null ? valueText(value) : `"${decimal}"`;
}

/** Every value starts with a sign of its kind and shows where it ends, so that two rows never share a text. */
function valueText(value: JsonValue): string {
  if (value === null) return "~";
  if (typeof value === "string") return `'${value.length}:${value}`;
  if (typeof value === "boolean") return value ? "+" : "-";
  if (typeof value === "number" || isRawNumber(value)) {
    return `#${decimalValueForm(numberText(value)) ?? numberText(value)};`;
  }
  if (Array.isArray(value)) return `[${value.map(valueText).join("")}]`;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => valueText(name) + valueText(field)).join("")}}`;
}

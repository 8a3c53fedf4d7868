// Names of tables and columns: which are reserved, and what a name in somebody's file becomes.
import { NAME_PATTERN } from "./registry-schema.ts";
import { type Column, columnOf, type Table } from "./table.ts";

const NAME = new RegExp(NAME_PATTERN);
const MAX_NAME_CHARS = 63;
const ACCENT = /\p{M}/gu;

const RESERVED_TABLE = /^(repsync_|sqlite_|__proto__$)/i;
const RESERVED_COLUMN = /^(_id|_bsontype|__proto__|_?repsync(_.*)?)$/i;

export function isReservedTable(name: string): boolean {
  return RESERVED_TABLE.test(name);
}

export function isReservedColumn(name: string): boolean {
  return RESERVED_COLUMN.test(name);
}

/**
 * The registry name nearest to a text: the text where it is a name; else without outer blanks and accents, and with `_` for
 * characters that no name has, such as `Order_Date` for `Order Date`. Null when nothing is left.
 */
export function registryNameOf(text: string): string | null {
  if (NAME.test(text)) return text;
  const plain = text.normalize("NFKD").replace(ACCENT, "");
  const name = plain.replace(/[^A-Za-z0-9_]+/g, "_").replace(/^_+|(?<!_)_+$/g, "");
  if (name === "") return null;
  return (/^\d/.test(name) ? `_${name}` : name).slice(0, MAX_NAME_CHARS);
}

/** As `registryNameOf`, for a column: `id` for `_id`. Null also for a reserved name. */
export function columnNameOf(text: string): string | null {
  const name = registryNameOf(text);
  if (name === null || !isReservedColumn(name)) return name;
  const bare = name.replace(/^_+/, "");
  return isReservedColumn(bare) ? null : bare;
}

/** The words of a name, in lower case: `order_date` for `OrderDate`, `orderDate`, `Order date` and `ORDER_DATE`. */
export function wordsOfName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}

/**
 * The column for a name in a file: the one that the registry gives this name (`import.columns`), else the one of exactly this name,
 * else the only one that equals `columnNameOf` in lower case, such as `order_date` for `Order Date`; null for none. A numbered `id`
 * is found too, though it is not imported. D-10.2, D-10.3.
 */
export function matchColumn(table: Table, name: string): Column | null {
  const exact =
    table.columns.find((column) => table.files.headers.get(column.name) === name) ??
    columnOf(table, name);
  if (exact !== null) return exact;
  const folded = columnNameOf(name)?.toLowerCase();
  const alike = table.columns.filter((column) => column.name.toLowerCase() === folded);
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

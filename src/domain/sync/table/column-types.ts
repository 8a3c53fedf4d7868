// The types of columns. Free of what checks registry files, as the published client reads them too.

/** Every type of a column. A new one goes here first: the compiler names most of what it needs. */
export const COLUMN_TYPES = [
  "text",
  "integer",
  "bigint",
  "numeric",
  "real",
  "boolean",
  "datetime",
  "date",
  "json",
] as const;

export type ColumnType = (typeof COLUMN_TYPES)[number];

/** Types that the columns of a key may have. D-2.2.7. */
export const KEY_TYPES: readonly ColumnType[] = [
  "text",
  "integer",
  "bigint",
  "boolean",
  "datetime",
  "date",
];

/** True where values are decimals with every digit, as text: numbers that differ in their text may be equal. */
export function holdsDecimals({ type }: { readonly type: ColumnType }): boolean {
  return type === "numeric" || type === "bigint";
}

// The types of columns, apart from the checks of registry files, which the published client does without.

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

/** Types of columns of a key. D-2.2.7. */
export const KEY_TYPES: readonly ColumnType[] = [
  "text",
  "integer",
  "bigint",
  "boolean",
  "datetime",
  "date",
];

/** True where values are decimals with every digit, as text: different texts may be equal numbers. */
export function holdsDecimals({ type }: { readonly type: ColumnType }): boolean {
  return type === "numeric" || type === "bigint";
}

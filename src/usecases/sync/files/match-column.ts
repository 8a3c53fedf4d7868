import type { Column, Table } from "../../../domain/sync/table/table.ts";

/**
 * The column that a file means by a name: the one of exactly that name, or the only one with it in other letter case and
 * without blanks around it; null where there is none. A numbered `id` is one too, though it is not imported. D-10.3.
 */
export function matchColumn(table: Table, name: string): Column | null {
  const exact = table.columns.find((column) => column.name === name);
  if (exact !== undefined) return exact;
  const folded = name.trim().toLowerCase();
  const alike = table.columns.filter((column) => column.name.toLowerCase() === folded);
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

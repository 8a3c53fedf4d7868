import { columnNameOf } from "./names.ts";
import type { Column, Table } from "./table.ts";

/**
 * The column that a file means by a name: the one of exactly that name, or the only one with it in other letter case and
 * with `_` for what no name of a column can have (`order_date` for `Order Date`), as `tables infer` names it; null where
 * there is none. A numbered `id` is one too, though it is not imported. D-10.2, D-10.3.
 */
export function matchColumn(table: Table, name: string): Column | null {
  const exact = table.columns.find((column) => column.name === name);
  if (exact !== undefined) return exact;
  const folded = columnNameOf(name)?.toLowerCase();
  const alike = table.columns.filter((column) => column.name.toLowerCase() === folded);
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

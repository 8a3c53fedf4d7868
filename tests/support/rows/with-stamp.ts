// What a guess adds to the entry of a table whose file has no time. D-14.2.7.
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";

/** The entry of a table whose time repsync keeps in a column of its own. */
export function withStamp(
  { columns, ...entry }: TableEntry,
  column: "updated_at" | "changed_at" = "updated_at",
): TableEntry {
  return {
    ...entry,
    ...{ timestamp_column: column, stamped: true, deletes: true },
    columns: { ...columns, [column]: { type: "datetime" } },
  };
}

/** A CSV text without the last field of each line, which is that column. */
export function withoutStamps(csv: string): string {
  return csv.replace(/[,;\t][^,;\t\n]*$/gm, "");
}

/** Rows without that column. */
export function withoutStamp(rows: readonly object[]): object[] {
  return rows.map((row) => {
    const { updated_at: _, ...own } = row as { readonly updated_at?: unknown };
    return own;
  });
}

import { AppError } from "../../shared/errors.ts";
import { MAX_COLUMNS } from "../../shared/limits.ts";
import type { TableEntry } from "./registry-schema.ts";

/** Names of the column that gets the time, the first one that is free. */
const NAMES = ["updated_at", "changed_at"];

/**
 * The entry of a table whose time repsync keeps, with its deletes: in the timestamp column that it has, else in a new one.
 * Whether it is sound says `readRegistry`. Throws `invalid_request` where no name is free. D-14.2.
 */
export function stampedEntry(name: string, entry: TableEntry): TableEntry {
  const column = entry.timestamp_column ?? freeName(entry);
  if (column === undefined) {
    const text = `Table "${name}" has columns ${NAMES.join(" and ")}: make one of them its timestamp_column`;
    throw new AppError("invalid_request", text);
  }
  const { update_columns: updates = "__all__" } = entry;
  const isListed =
    typeof updates === "object" && updates.length > 0 && !updates.includes("__all__");
  return {
    ...entry,
    timestamp_column: column,
    ...(isListed && !updates.includes(column) ? { update_columns: [...updates, column] } : {}),
    stamped: true,
    deletes: true,
    columns: { ...entry.columns, [column]: entry.columns[column] ?? { type: "datetime" } },
  };
}

/** Whether an entry without a timestamp column has room for one. */
export function canBeStamped(entry: TableEntry): boolean {
  return freeName(entry) !== undefined && Object.keys(entry.columns).length < MAX_COLUMNS;
}

function freeName({ columns }: TableEntry): string | undefined {
  const taken = new Set(Object.keys(columns).map((name) => name.toLowerCase()));
  return NAMES.find((name) => !taken.has(name));
}

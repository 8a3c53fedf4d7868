// The registry entry of a table that another deployment has, as the end that joins it needs it. D-14.8.
import { BUILT_IN_TABLES } from "./built-in-tables.ts";
import { readRegistry } from "./registry.ts";
import type { ColumnEntry, TableEntry } from "./registry-schema.ts";
import { describeTable, type SchemaColumn, type TableSchema } from "./table-schema.ts";

/** The other end's way, seen from here. */
const TURNED = { push: "pull", pull: "push" } as const;

export function joinedEntry(schema: TableSchema): TableEntry {
  const { timestampColumn, updateColumns, conflict, direction, deletes, stamped } = schema;
  return {
    ...(timestampColumn === null ? {} : { timestamp_column: timestampColumn }),
    upsert_key: [...schema.upsertKey],
    ...(updateColumns === "__all__" ? {} : { update_columns: [...updateColumns] }),
    ...(conflict === "newer" ? { conflict } : {}),
    ...(direction === null ? {} : { direction: TURNED[direction] }),
    ...(stamped ? { stamped } : {}),
    ...(deletes ? { deletes } : {}),
    columns: Object.fromEntries(
      Object.entries(schema.columns).map(([name, column]) => [name, columnEntry(column)]),
    ),
  };
}

/** Whether it is a table that every registry has, registered there as it is here without an entry. */
export function isBuiltIn(schema: TableSchema): boolean {
  if (!Object.hasOwn(BUILT_IN_TABLES, schema.table)) return false;
  const table = readRegistry({ tables: {} }).get(schema.table);
  if (table === undefined) return false;
  const own: TableSchema = { ...schema, ...describeTable(table) };
  return JSON.stringify(joinedEntry(own)) === JSON.stringify(joinedEntry(schema));
}

function columnEntry({ type, nullable, maxLength = null }: SchemaColumn): ColumnEntry {
  return {
    type,
    ...(nullable ? {} : { nullable }),
    ...(maxLength === null ? {} : { max_length: maxLength }),
  };
}
